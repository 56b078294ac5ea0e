"""Logits and lots in, tokens and their logprobs out. A row's token depends on nothing but its own logits and lot.

Shapes: M rows, V tokens of the vocabulary, B blocks of S tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

Tensor = torch.Tensor
BLOCK = 256  # tokens whose probabilities are added up at once


def choose(logits_MV: Tensor, temperatures: Sequence[float], lots: Sequence[float]) -> tuple[Tensor, Tensor]:
    """A token for every row and its logprob, both [M]: drawn, or the likeliest where the temperature is 0."""
    cold_M1 = torch.tensor([[temperature or 1.0] for temperature in temperatures])
    chances_MV = torch.softmax(logits_MV / cold_M1, -1)
    greedy_M = torch.tensor([temperature == 0 for temperature in temperatures])
    if greedy_M.all():
        tokens_M = logits_MV.argmax(-1)
    else:
        tokens_M = draw(chances_MV, torch.tensor(lots, dtype=torch.float64))
        if greedy_M.any():
            tokens_M = torch.where(greedy_M, logits_MV.argmax(-1), tokens_M)
    return tokens_M, chances_MV.gather(1, tokens_M[:, None])[:, 0].log()


def draw(chances_MV: Tensor, lots_M: Tensor) -> Tensor:
    """[M]: the token at which the probabilities added up in order pass the lot.

    Probabilities 0.2, 0.5, 0.3 and the lot 0.6: the sums are 0.2, 0.7, 1.0, so it is the second token. First the block
    of tokens is found, then the token in it: adding up one by one takes ten times as long.
    """
    rows, size = chances_MV.shape
    padded_MV = torch.nn.functional.pad(chances_MV, (0, -size % BLOCK)) if size % BLOCK else chances_MV
    blocks_MBS = padded_MV.view(rows, -1, BLOCK)
    sums_MB = blocks_MBS.sum(-1).double().cumsum(-1)
    wanted_M1 = (lots_M * sums_MB[:, -1])[:, None]
    block_M1 = torch.searchsorted(sums_MB, wanted_M1, right=True).clamp_(max=sums_MB.shape[1] - 1)
    before_M1 = torch.nn.functional.pad(sums_MB, (1, 0)).gather(1, block_M1)
    # What is left of the lot as a share of the block: rounding cannot lead past the last token that is possible.
    share_M1 = (wanted_M1 - before_M1) / (sums_MB.gather(1, block_M1) - before_M1)
    inside_MS = blocks_MBS[torch.arange(rows), block_M1[:, 0]].cumsum(-1, dtype=torch.float64)
    place_M1 = torch.searchsorted(inside_MS, share_M1 * inside_MS[:, -1:], right=True).clamp_(max=BLOCK - 1)
    return (block_M1 * BLOCK + place_M1)[:, 0].clamp_(max=size - 1)
