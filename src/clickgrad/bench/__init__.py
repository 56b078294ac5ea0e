"""Measurements of the parts, on the machine at hand: `clickgrad bench worlds|...`."""
