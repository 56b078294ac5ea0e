"""How well values foresee new episodes of a policy that stays the same, where the second page decides how they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from shops import ANY_OF_THE_SHELF, train

STILL = ["reinforce.algorithm=awr", "reinforce.steps=4", "reinforce.lr=1e-9", "reinforce.kl_beta=0", "lora.rank=4"]
STILL += ["reinforce.max_refills=0"]


@pytest.mark.parametrize("kind", ["head", "table", "exact"])
def test_every_kind_of_values_foresees_what_the_page_decides(start: Path, tmp_path: Path, kind: str) -> None:
    """At home the chance is 1/2, on a shelf it is 1 or 0; half of the turns are at home.

    The best AUC: a success is told from a failure at home by half, from one elsewhere surely; (3/4 + 1) / 2 = 0.875.
    The best Brier score: (1/4 + 0) / 2. Of one who knows nothing it is 1/4.
    """
    rows = train(start, tmp_path, *STILL, f"values.kind={kind}", tasks=ANY_OF_THE_SHELF)
    if kind != "exact":
        assert rows[0]["value_auc"] == 0.5, "nothing was known"
    assert rows[-1]["value_auc"] > 0.8
    assert rows[-1]["value_brier"] < 0.18


def test_the_head_foresees_nothing_where_rewards_are_shuffled(start: Path, tmp_path: Path) -> None:
    rows = train(start, tmp_path, *STILL, "reinforce.shuffle_rewards=true", tasks=ANY_OF_THE_SHELF)
    assert 0.35 < rows[-1]["value_auc"] < 0.65
    assert rows[-1]["value_brier"] > 0.23
