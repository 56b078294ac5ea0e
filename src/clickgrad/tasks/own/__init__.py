"""A site of the user's own: a folder with site.toml, tasks, and, in Python, checks and experts. Reads it, runs none."""

from clickgrad.tasks.own.checks import Ended, named_checks, run_check
from clickgrad.tasks.own.experts import has_own_expert, own_script
from clickgrad.tasks.own.site import OwnSite, read_site
from clickgrad.tasks.own.tasks import own_tasks

__all__ = ["Ended", "OwnSite", "has_own_expert", "named_checks", "own_script", "own_tasks", "read_site", "run_check"]
