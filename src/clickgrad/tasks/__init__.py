"""WHAT TO DO AND WHEN IT IS DONE: suites, checks, the judge, and the scripted experts that prove each task solvable."""

from clickgrad.tasks.checks import judge
from clickgrad.tasks.experts import Expert
from clickgrad.tasks.moves import ExpertLost, Move
from clickgrad.tasks.suites import load_tasks

__all__ = ["Expert", "ExpertLost", "Move", "judge", "load_tasks"]
