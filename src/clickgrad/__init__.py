"""clickgrad: multi-turn reinforcement learning of web agents, in a real browser."""

__version__ = "0.1.0"
__all__ = ["__version__"]
