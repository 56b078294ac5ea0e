"""Agents and people at work, for somebody who looks on: watch, demo, record, and pictures drawn later."""
