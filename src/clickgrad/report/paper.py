"""What the paper (arXiv 2505.16421) reports, as data: success in % on WebArena-Lite, by its own models.

Another benchmark and other models than ours: directions can be compared, values cannot.
"""

from __future__ import annotations

from dataclasses import dataclass

CAVEAT = (
    "The paper's rows are of WebArena-Lite (165 tasks) and its own models: another benchmark and other models. "
    "Compare directions, not values."
)


@dataclass(frozen=True, slots=True)
class Start:
    """A place that RL starts from; each pair is before and after RL."""

    key: str
    name: str
    success: tuple[float, float]
    tokens: tuple[int, int]  # a turn
    turns: tuple[int, int]


STARTS = (  # Qwen2.5-3B
    Start("zero", "R1-Zero, the base model", (6.1, 4.8), (142, 130), (17, 12)),
    Start("r1", "R1, plain cloning", (20.0, 33.9), (48, 42), (9, 8)),
    Start("cot", "R1-CoT, cloned long reasoning", (24.5, 30.3), (388, 384), (9, 10)),
)

FORMATS = (  # prompting only: without and with thinking
    ("Qwen2.5-3B", 3.2, 6.1),
    ("Llama3.1-8B", 4.8, 8.5),
    ("o4-mini", 15.9, 36.9),
)

TURN_LIMITS = (5, 10, 15, 20, 25, 30)
TURNS = (  # success at each of the limits, Qwen2.5-3B
    ("prompting", (2.4, 3.0, 4.2, 5.5, 5.5, 6.1)),
    ("BC", (10.3, 17.6, 18.8, 18.8, 19.4, 20.0)),
    ("R1", (17.6, 30.3, 31.5, 33.3, 33.9, 33.9)),
)

SITES = {"forum": "Reddit", "code": "GitLab", "admin": "CMS", "map": "Map", "shop": "Shopping"}  # ours: the paper's
PROMPTING: tuple[tuple[str, tuple[float | None, ...], float], ...] = (  # by site in the order of SITES, and all
    ("Qwen2.5-3B", (5.3, 13.3, 5.7, 0.0, 4.4), 6.1),
    ("Llama3.1-8B", (5.3, 10.0, 5.7, 15.4, 8.9), 8.5),
    ("GPT-4o", (None,) * 5, 13.9),
    ("o3", (None,) * 5, 39.4),
    ("o4-mini", (None,) * 5, 36.9),
)

BASELINES = (  # Llama3.1-8B
    ("BC", 20.6, "the clone"),
    ("Filtered BC", 23.0, "offline, one pass over the first phase's rollouts; return above the 70th percentile"),
    ("AWR", 28.5, "offline, one pass over the first phase's rollouts"),
    ("DigiRL", 30.3, "online, on the first phase's instructions"),
    ("WebRL", 42.4, "online, with new tasks in every phase"),
    ("WebAgent-R1", 44.8, "online; measured by its own authors"),
)
PROVENANCE = (
    "The papers' rows but the last are WebRL's own measurements (arXiv 2411.02337), which WebAgent-R1 (2505.16421) "
    "took over: single runs, n = 165, rewards by an outcome model that is right about four times in five. They mix "
    "algorithm and data: two of them are offline, one has fixed tasks, one has new ones. Ours differ in the algorithm "
    "alone, but for the arms that say offline."
)
