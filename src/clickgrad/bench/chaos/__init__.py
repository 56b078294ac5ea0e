"""`clickgrad bench chaos`: a small training run under a seeded storm of faults, and what it did wrong."""
