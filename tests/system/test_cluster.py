"""A Ray cluster of three simulated nodes: the same run, and what happens when nodes are lost."""

from __future__ import annotations

import asyncio
import inspect
import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import ray
from ray.cluster_utils import Cluster
from ray_parts import hanging_parts, noting_engine
from rollouts import fill_slots
from tiny import make_task

from clickgrad import __version__
from clickgrad.backends.policies import Scripted, TorchModel
from clickgrad.backends.ray.connection import connected, refuse_others, room_for
from clickgrad.backends.ray.engine import Engines
from clickgrad.backends.ray.events import Events
from clickgrad.backends.ray.fleet import Fleet, FleetOptions
from clickgrad.backends.ray.learner import failure_of
from clickgrad.backends.ray.worker import Worker
from clickgrad.config import Config, load_config
from clickgrad.errors import InfraError, UserError
from clickgrad.recipes.evaluate import evaluate
from clickgrad.recipes.reinforce import reinforce
from clickgrad.rollout.scheduler import Slot
from clickgrad.rollout.store import TrajectoryFile

GROUPS, SIZE, STEPS = 2, 4, 3
EPISODES = GROUPS * SIZE
SUPPORT = Path(__file__).parents[1] / "support"
NOTHING: Mapping[str, object] = {}

pytestmark = [pytest.mark.timeout(900), pytest.mark.filterwarnings("default")]  # Ray warns of its own affairs


class Nodes:
    """The simulated cluster. The driver and what must not be lost live on the head, which has room for nothing else."""

    def __init__(self) -> None:
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
        self.address = self.cluster.address

    def add(self, cpus: int, count: int = 1) -> None:
        for _ in range(count):
            self.cluster.add_node(num_cpus=cpus)
        self.cluster.wait_for_nodes()

    def kill(self, title: str) -> bool:
        """A node that runs a process of this title, if there is one now. Ray writes into it which call it makes."""
        for process in psutil.process_iter():
            node = self._node_of(process) if title in title_of(process) else None
            if node is not None and stopped_in(process, title):
                process.kill()
                self.cluster.remove_node(node, allow_graceful=False)
                return True
        return False

    def _node_of(self, process: psutil.Process) -> Any:
        above = {parent.pid for parent in process.parents()}
        own = (node for node in self.cluster.worker_nodes if above & {one.process.pid for one in raylets(node)})
        return next(own, None)


def raylets(node: Any) -> list[Any]:
    return node.all_processes["raylet"]  # type: ignore[no-any-return]


def stopped_in(process: psutil.Process, title: str) -> bool:
    """Whether it stands still in the midst of that call, so that it cannot finish it before it is killed."""
    process.suspend()
    while process.status() != psutil.STATUS_STOPPED:
        time.sleep(0.001)
    if title in title_of(process):
        return True
    process.resume()
    return False


def title_of(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it has ended
        return ""


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    started = Nodes()
    yield started
    ray.shutdown()
    started.cluster.shutdown()


def configured(
    coin: Path, nodes: Nodes | None, command: str = "reinforce", more: Mapping[str, object] = NOTHING
) -> Config:
    settings = {
        "tasks.suite": coin / "tasks.json",
        "model.path": coin / "model",
        "model.threads": 1,
        "agent.max_turns": 2,
        "agent.max_new_tokens": 24,
        "rollout.concurrency": 4,
        **more,
    }
    if command == "reinforce":
        settings |= {
            "lora.rank": 4,
            "reinforce.steps": STEPS,
            "reinforce.groups": GROUPS,
            "reinforce.group_size": SIZE,
            "reinforce.max_refills": 0,
            "reinforce.kl_beta": 0.1,
            "reinforce.updates": 150,  # an update long enough to be killed in
        }
    if nodes:
        settings |= {"cluster.address": nodes.address, "cluster.worker_episodes": 2, "cluster.start_s": 120}
    return load_config(None, [f"{name}={value}" for name, value in settings.items()], command)


def stored(run: Path, step: int) -> list[Any]:
    return TrajectoryFile(run / "trajectories" / f"step-{step:04d}.jsonl.zst").read()


def browsers() -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(word.startswith("--clickgrad-owner=") for word in process.info["cmdline"] or ()):
            found.append(process)
    return found


def repeat(attempt: Callable[[], bool]) -> threading.Thread:
    """In a thread: until it succeeds."""

    def watch() -> None:
        deadline = time.monotonic() + 800  # a slow machine needs minutes to come to the second step
        while not attempt() and time.monotonic() < deadline:
            time.sleep(0.01)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def test_nodes_are_lost_in_a_rollout_and_in_an_update_and_the_weights_are_those_of_one_process(
    coin: Path, tmp_path: Path, nodes: Nodes
) -> None:
    before = set(browsers())
    nodes.add(cpus=1, count=6)  # for an engine, a learner, two workers, and two to spare
    run = tmp_path / "cluster"
    watches = [
        repeat(lambda: nodes.kill("ray::Worker.play")),
        repeat(lambda: len(stored(run, 2)) >= EPISODES and nodes.kill("ray::RayTrainWorker")),
    ]
    model = asyncio.run(reinforce(configured(coin, nodes, more={"cluster.workers": 2}), str(coin / "model"), run))
    for watch in watches:
        watch.join(10)
        assert not watch.is_alive()

    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    kinds = [json.loads(line)["kind"] for line in (run / "cluster.jsonl").read_text().splitlines()]
    tries = [stored(run, step) for step in range(1, STEPS + 1)]
    lost = sum(not one.usable for step in tries for one in step)
    assert lost >= 1
    assert "worker lost" in kinds
    assert kinds.count("episode repeated") == lost
    assert "learner lost" in kinds
    assert [row["step"] for row in rows] == [1, 2, 3]
    assert [row["episodes"] for row in rows] == [len(step) for step in tries]
    assert [row["crashed"] for row in rows] == [sum(not one.usable for one in step) for step in tries]
    assert all(sum(one.usable for one in step) == EPISODES for step in tries)
    page = (run / "report.html").read_text()
    assert "Lost and repeated" in page
    assert "worker lost" in page
    assert "learner lost" in page
    _, alive = psutil.wait_procs(set(browsers()) - before, timeout=10)
    assert not alive

    shutil.copytree(run / "trajectories", tmp_path / "alone" / "trajectories")
    alone = asyncio.run(reinforce(configured(coin, None), str(coin / "model"), tmp_path / "alone"))
    assert (alone / "model.safetensors").read_bytes() == (model / "model.safetensors").read_bytes()


def test_an_evaluation_on_a_cluster_counts_every_task_once(coin: Path, tmp_path: Path, nodes: Nodes) -> None:
    nodes.add(cpus=2)
    policy = TorchModel.of(str(coin / "model"))
    report = asyncio.run(evaluate(configured(coin, nodes, "evaluate"), policy, tmp_path / "evaluated"))
    assert report.success.n == 4
    assert report.success.infra_failed == 0


@pytest.mark.parametrize("error", [KeyError("weights"), RuntimeError("rank 0 failed:\nout of memory"), SystemExit(3)])
def test_why_the_learner_ended_is_known_whatever_it_was(error: BaseException) -> None:
    def fit() -> None:
        raise error

    failure = failure_of(fit)
    assert isinstance(failure, InfraError)
    assert str(error).splitlines()[-1] in str(failure)
    assert failure_of(lambda: None) is None


def test_a_worker_plays_several_episodes_at_once() -> None:
    """With a single coroutine among its methods Ray would run them one after the other."""
    assert not [name for name, method in vars(Worker).items() if inspect.iscoroutinefunction(method)]


def test_a_cluster_without_room_is_refused_before_anything_starts(nodes: Nodes) -> None:
    nodes.add(cpus=2)
    with connected(nodes.address), pytest.raises(UserError, match="needs 1 CPU, 1 GPU at least, the nodes have 2 CPU"):
        room_for([{"GPU": 1.0}], {"CPU": 1.0}, wait_s=1)


def test_a_cluster_that_is_not_there_is_one_line() -> None:
    with pytest.raises(UserError, match=r"cluster\.address=auto: no Ray cluster to work with"), connected("auto"):
        pass


def test_a_node_with_another_clickgrad_is_refused_by_name() -> None:
    refuse_others({"here": __version__})
    with pytest.raises(UserError, match=r"the node there has clickgrad 0\.0\.9, not .*install the same on every node"):
        refuse_others({"here": __version__, "there": "0.0.9"})


def test_a_worker_that_hangs_is_replaced_and_a_lost_engine_gets_the_newest_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))  # the workers load what is sent to them from there
    told: list[str] = []
    slots = [Slot(f"slot-{number}", make_task(), 0) for number in range(2)]
    options = FleetOptions(workers=1, worker_cpus=1, episodes_each=1, episode_s=4, patience_s=60)
    with connected("local"), asyncio.Runner() as runner:
        events = Events(tmp_path, told.append)
        fleet = Fleet(partial(hanging_parts, tmp_path), "fixed", "format", None, options, events)
        runner.run(fleet.open())
        filling = fill_slots(slots, fleet.play, concurrency=2, retries=1, stored={}, on_end=lambda _: None)
        filled = runner.run(filling)
        assert [one.reward for one in filled] == [1.0, 1.0]
        assert sum(one.endswith("did not answer in time; another takes its place") for one in told) == 1
        assert fleet.figures()["workers_lost"] == 1
        runner.run(fleet.close())

        places = room_for([{"CPU": 1.0}], {}, wait_s=30)
        engines = Engines(partial(noting_engine, tmp_path), "fixed", places, [0], events, lambda: ray.put("new"))
        engines.push(1)
        ray.kill(engines.home("any"))
        engines.mend()
        assert (tmp_path / "taken").read_text() == "new 1\nnew 1\n"
        assert any(one.startswith("engine lost: engine 0") for one in told)
        engines.close()


def test_a_stage_that_cannot_open_is_told_with_its_reason(coin: Path, tmp_path: Path, nodes: Nodes) -> None:
    nodes.add(cpus=2)
    config = configured(coin, nodes, "evaluate", {"tasks.suite": "webarena"})
    with pytest.raises((UserError, InfraError), match="WA_"):
        asyncio.run(evaluate(config, Scripted("noop"), tmp_path / "none"))
