"""The options of a run. Only backends, recipes and what stands above them see a configuration."""

from clickgrad.config.loading import ONLY, READ_BY, REPLACED, load_config, near_option, presets
from clickgrad.config.sections import (
    ALGORITHMS,
    AgentSection,
    BaselinesSection,
    CloneSection,
    ClusterSection,
    Config,
    ForksSection,
    ModelSection,
    PlacementSection,
    ReinforceSection,
    TasksSection,
)

__all__ = [
    "ALGORITHMS",
    "ONLY",
    "READ_BY",
    "REPLACED",
    "AgentSection",
    "BaselinesSection",
    "CloneSection",
    "ClusterSection",
    "Config",
    "ForksSection",
    "ModelSection",
    "PlacementSection",
    "ReinforceSection",
    "TasksSection",
    "load_config",
    "near_option",
    "presets",
]
