"""Our statistics against SciPy's and statsmodels', on random cases. They live in an environment of their own:

    python -m venv /tmp/stats && /tmp/stats/bin/pip install scipy statsmodels
    PYTHONPATH=src /tmp/stats/bin/python tests/compare/scipy_stats.py

Newcombe's paired interval has no counterpart in either. Its unpaired relative has: with the correlation left out, ours
must be statsmodels' `confint_proportions_2indep(method="newcomb")`.
"""

from __future__ import annotations

import random
import sys

from scipy.stats import binomtest, hypergeom
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from clickgrad.report.stats import Pairs, Rate, pass_all, pass_at

CASES, BOUND = 2000, 1e-9


class Uncorrelated(Pairs):
    def _correlation(self) -> float:
        return 0.0


def worst_gaps(rng: random.Random) -> dict[str, float]:
    gaps = dict.fromkeys(("wilson", "mcnemar", "mcnemar, scipy", "newcombe, unpaired", "pass@k", "pass^k"), 0.0)

    def note(name: str, ours: float, theirs: float) -> None:
        gaps[name] = max(gaps[name], abs(ours - theirs))

    for _ in range(CASES):
        n = rng.randint(1, 200)
        c = rng.randint(0, n)
        for ours, theirs in zip(Rate(c, n).interval, proportion_confint(c, n, method="wilson"), strict=True):
            note("wilson", ours, theirs)
        both, only_a, only_b, neither = (rng.randint(0, 40) for _ in range(4))
        pairs = Pairs(both, only_a, only_b, neither)
        note("mcnemar", pairs.p, mcnemar([[both, only_a], [only_b, neither]], exact=True).pvalue)
        if only_a + only_b:
            note("mcnemar, scipy", pairs.p, binomtest(only_a, only_a + only_b).pvalue)
        if pairs.n:
            theirs = confint_proportions_2indep(
                both + only_b, pairs.n, both + only_a, pairs.n, method="newcomb", compare="diff"
            )
            for ours, other in zip(Uncorrelated(both, only_a, only_b, neither).interval, theirs, strict=True):
                note("newcombe, unpaired", ours, other)
        k = rng.randint(1, n)
        note("pass@k", pass_at(k, n, c), float(hypergeom.sf(0, n, c, k)))
        note("pass^k", pass_all(k, n, c), float(hypergeom.pmf(k, n, c, k)))
    return gaps


if __name__ == "__main__":
    gaps = worst_gaps(random.Random(0))
    for name, gap in gaps.items():
        print(f"{name:<20} largest difference in {CASES} cases: {gap:.1e}")
    sys.exit(int(max(gaps.values()) > BOUND))
