from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from clickgrad.policy.device import give_back_threads

TASKS = Path("/proc/self/task")
OPENMP = list((Path(torch.__file__).parent / "lib").glob("libgomp*.so*"))
pytestmark = pytest.mark.skipif(not (OPENMP and TASKS.exists()), reason="not the OpenMP whose threads are given back")


def test_helpers_end_when_they_are_given_back_and_the_next_product_has_new_ones() -> None:
    def add_up() -> tuple[float, int]:
        return float(torch.ones(2_000_000).add(1).sum()), len(os.listdir(TASKS))

    def work() -> list[tuple[float, int]]:
        done = [add_up()]
        for _ in range(20):
            give_back_threads()
            done += [(0.0, len(os.listdir(TASKS))), add_up()]
        return done

    threads = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(1, "computing", torch.set_num_threads, (2,)) as pool:
            first, *rest = pool.submit(work).result()
    finally:
        torch.set_num_threads(threads)
    assert first[0] == 4_000_000.0
    assert rest == [(0.0, first[1] - 1), first] * 20  # one helper less, and back again
