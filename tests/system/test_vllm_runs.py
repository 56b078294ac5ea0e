"""Runs that sample with real vLLM servers on a CPU; skipped where vLLM is not installed."""

from __future__ import annotations

import importlib.util
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from commands import start

from clickgrad.bench.chaos.model import save_coin_model
from clickgrad.bench.chaos.scenes import COMMON, sets, write_tasks
from clickgrad.policy.vllm_server import CPU_OPTIONS, VllmServer
from clickgrad.report.metrics import Metrics
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import End, Trajectory

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed"),
    pytest.mark.timeout(1800),
]

CONTEXT, STEPS, GROUPS, SIZE = 900, 3, 4, 4


@pytest.fixture(scope="module")
def coin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `model` and `tasks.json`."""
    folder = tmp_path_factory.mktemp("coin")
    save_coin_model(folder / "model", 2)
    write_tasks(folder / "tasks.json")
    return folder


def settings(coin: Path, **more: object) -> tuple[str, ...]:
    own = {
        "tasks.suite": coin / "tasks.json",
        "lora.rank": 0,
        "rollout.reply_s": 300.0,
        "rollout.episode_s": 900.0,
        "model.context_tokens": CONTEXT,
        "reinforce.steps": STEPS,
        "reinforce.groups": GROUPS,
        "reinforce.group_size": SIZE,
        "reinforce.max_refills": 0,
        "reinforce.lr": 1e-3,
        "reinforce.engine": "vllm",
    }
    return sets(COMMON | own | {name.replace("__", "."): value for name, value in more.items()})


def episodes(run: Path, step: int) -> list[Trajectory]:
    return list(TrajectoryFile(run / "trajectories" / f"step-{step:04d}.jsonl.zst").read())


def test_a_run_goes_on_when_one_of_its_two_servers_dies(coin: Path, tmp_path: Path) -> None:
    def begin(name: str) -> VllmServer:
        options = [*CPU_OPTIONS, "--max-num-seqs", "8"]
        made = VllmServer(
            str(coin / "model"), tmp_path / name, dtype="float32", context_tokens=CONTEXT, options=options
        )
        return made.__enter__()

    with ThreadPoolExecutor(2) as pool:
        servers = list(pool.map(begin, ("first.log", "second.log")))
    try:
        for server in servers:
            (model,) = httpx.get(f"{server.url}/v1/models", trust_env=False).json()["data"]
            assert model["max_model_len"] == CONTEXT
        run, urls = tmp_path / "run", [server.url for server in servers]
        words = settings(coin, reinforce__servers=f'["{urls[0]}", "{urls[1]}"]')
        process = start(["reinforce", "--start", coin / "model", "--run", run, *words], tmp_path)
        while process.poll() is None and len(episodes(run, 2)) < 3:
            time.sleep(0.2)
        servers[1].end()
        _, err = process.communicate(timeout=1200)
    finally:
        for server in servers:
            server.end()
    assert process.returncode == 0, err
    played = [one for step in range(1, STEPS + 1) for one in episodes(run, step)]
    print(len(played), "episodes,", sum(one.end is End.CRASHED for one in played), "crashed")
    print([line for line in err.splitlines() if "vLLM" in line])
    assert "a vLLM server is left out until the next push" in err
    assert all(one.reward is None for one in played if one.end is End.CRASHED), "never a made-up reward"
    assert len([one for one in played if one.reward is not None]) == STEPS * GROUPS * SIZE
    rows = Metrics(run / "metrics.jsonl").read()
    print([row["sampler_gap"] for row in rows])
    assert len(rows) == STEPS
    assert all(row["sampler_gap"] < 1e-3 for row in rows), "pushed weights arrive"


def test_weights_go_straight_to_the_server_that_a_run_starts(coin: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    process = start(["reinforce", "--start", coin / "model", "--run", run, *settings(coin)], tmp_path)
    _, err = process.communicate(timeout=1500)
    assert process.returncode == 0, err
    rows = Metrics(run / "metrics.jsonl").read()
    print([row["sampler_gap"] for row in rows])
    assert len(rows) == STEPS
    assert all(row["sampler_gap"] < 1e-3 for row in rows)
    log = (run / "vllm.log").read_text()
    assert log.count("POST /update_weights") == STEPS + 1
    assert "POST /collective_rpc" not in log
    assert f"max_seq_len={CONTEXT}" in log


def test_an_evaluation_samples_with_a_server_of_its_own(coin: Path, tmp_path: Path) -> None:
    run, words = tmp_path / "run", sets(COMMON | {"tasks.suite": coin / "tasks.json", "evaluate.split": "train"})
    more = sets({"evaluate.engine": "vllm", "evaluate.limit": 4, "rollout.reply_s": 300.0, "rollout.episode_s": 900.0})
    process = start(["evaluate", "--policy", f"torch:{coin / 'model'}", "--run", run, *words, *more], tmp_path)
    out, err = process.communicate(timeout=1500)
    assert process.returncode == 0, err
    print(out[-400:])
    assert "POST /inference/v1/generate" in (run / "vllm.log").read_text()
    assert [path.name for path in run.glob("vllm*.log")] == ["vllm.log"]
