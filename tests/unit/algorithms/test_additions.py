"""Which episodes a step has when groups grow, begin later, branch, and are joined by earlier successes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tiny import make_task, make_trajectory, make_turn

from clickgrad.algorithms.branching import Branching, score
from clickgrad.algorithms.collecting import Collected, Collector
from clickgrad.algorithms.replay import Replay
from clickgrad.algorithms.starts import FIRST_LEFT, UNPLAYABLE, Starts, moved
from clickgrad.config import Config, ReinforceSection
from clickgrad.learn.progress import Progress
from clickgrad.recipes.algorithm import make_algorithm
from clickgrad.rollout.scheduler import Bounds
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Given, Opening, Task, Trajectory

TASKS = [replace(make_task(f"t{number}"), template=f"kind{number % 2}") for number in range(6)]
TURNS = [make_turn((1, number), (number,), (-number / 10,)) for number in range(4)]
SEED = 7  # the first tasks are of kind 1, 0, 1, 0
Rewards = Sequence[float | None]


def demonstration(task: Task, turns: int = 4, name: str = "") -> Trajectory:
    return make_trajectory(TURNS[:turns], 1.0, task, name or f"{task.id}/try-0")


@dataclass
class Step:
    """Members have three turns and get the rewards set for the place of their task; else they pass and fail in turn."""

    folder: Path
    options: ReinforceSection
    rewards: Mapping[int, Rewards] = field(default_factory=dict)
    followed: Sequence[Trajectory] = ()
    error: str = ""  # of those that begin later
    openings: dict[str, Opening] = field(default_factory=dict)

    async def play(self, episode: str, task: Task, seed: int, opening: Opening) -> Trajectory:
        _, place, member, _ = (int(part.rpartition("-")[2]) for part in episode.split("/"))
        self.openings[f"{place}/{member}"] = opening
        await asyncio.sleep(0.001 * (7 * member + place) % 0.003)  # they end in another order than they began in
        own = make_turn((9, place, member), (member,), (-member / 10,))
        turns = (*opening.turns, *[own] * 3)[: max(3, len(opening.turns) + 1)]
        rewards = self.rewards.get(place, (1.0, 0.0) * 8)
        reward = None if opening.given and self.error else rewards[member]
        played = replace(make_trajectory(turns, reward, task, episode), given=opening.given)
        return replace(played, error=self.error) if reward is None else played

    def run(self, before: Progress | None = None) -> Collected:
        algorithm = make_algorithm(Config(seed=SEED, reinforce=self.options), TASKS, self.followed)
        collector = Collector(algorithm, self.play, Bounds(8, 0), SEED, "format", lambda text: None)
        file = TrajectoryFile(self.folder / "step.jsonl.zst")
        return asyncio.run(collector.collect(before or Progress(), file))


def options(**more: object) -> ReinforceSection:
    return ReinforceSection.model_validate({"groups": 2, "group_size": 8, "max_refills": 1} | more)


# --- groups that grow ---


def test_a_group_grows_when_it_has_contrast_or_may_yet_have_and_stops_when_it_will_be_flat(tmp_path: Path) -> None:
    """After eight failures of its template three more make it flat with chance 12/17; unknown, with 4/9."""
    step = Step(tmp_path, options(first_part=3), {0: (0.0,) * 8, 1: (0.0,) * 8})
    collected = step.run(Progress(beliefs={"kind1": (0.0, 8.0)}))
    assert [(group.plan.size, len(group.members)) for group in collected.groups] == [(3, 3), (8, 8), (8, 8)]
    assert [group.plan.index for group in collected.mixed] == [2], "each flat group is replaced, within the cap of one"


def test_a_step_of_growing_groups_is_the_same_when_it_is_resumed_from_any_part_of_it(tmp_path: Path) -> None:
    settings = options(first_part=3, branches=2, forks=2)
    straight = Step(tmp_path, settings, {0: (0.0,) * 16}).run()
    stored = TrajectoryFile(tmp_path / "step.jsonl.zst").read()
    for kept in (2, 7, len(stored) - 1):
        folder = tmp_path / str(kept)
        TrajectoryFile(folder / "step.jsonl.zst").extend(stored[:kept])
        again = Step(folder, settings, {0: (0.0,) * 16})
        assert again.run().groups == straight.groups
        assert len(again.openings) == len(stored) - kept


# --- starts ---


def test_every_other_group_begins_along_a_demonstration_and_the_rest_where_their_task_does(tmp_path: Path) -> None:
    shown = [demonstration(replace(task, id=f"demo{task.id}")) for task in TASKS[:2]]
    step = Step(tmp_path, options(groups=4, starts="demos"), followed=shown)
    collected = step.run()
    plain, later = collected.groups[0::2], collected.groups[1::2]
    assert all(not group.plan.left and group.from_the_start == group.members for group in plain)
    for group in later:
        given = group.plan.opening.given
        assert given is not None
        assert given.source == "demo"
        assert group.plan.left == 4 - given.turns
        assert group.from_the_start == ()
        assert {(member.given, member.turns[: given.turns]) for member in group} == {
            (given, tuple(TURNS[: given.turns]))
        }
        assert group.plan.task in [one.task for one in shown]
    after = collected.after(Progress())
    assert sum(tried for _, tried in after.records.values()) == 16, "only true starts say how often a task is solved"
    assert all(name.startswith(("step-0001/task-00000", "step-0001/task-00002")) for name in after.kept)


@pytest.mark.parametrize(
    ("left", "share", "level"),
    [(2, 0.8, 3), (3, 0.8, 4), (1, 0.8, 2), (2, 0.1, 1), (1, 0.1, 1), (3, 0.1, 2), (2, 0.5, 2)],
)
def test_more_is_left_to_do_after_success_and_less_after_failure(left: int, share: float, level: int) -> None:
    """From a level of 2. Success where less was to do, or failure where more was, says nothing new."""
    assert moved(FIRST_LEFT, left, share) == level


def test_who_is_followed_and_how_far_is_the_same_in_every_process() -> None:
    starts = Starts(5, 8, False, [demonstration(task) for task in TASKS])
    chosen = [starts.choose(index, TASKS[0], {}, ()) for index in range(6)]
    assert [(one.task.id, one.left) for one in chosen if one] == [
        ("t1", 2),
        ("t0", 3),
        ("t5", 1),
        ("t0", 3),
        ("t4", 3),
        ("t5", 1),
    ]


def test_nothing_is_followed_that_has_nothing_left_is_too_long_or_is_of_another_task() -> None:
    short, long = demonstration(TASKS[0], 2), demonstration(TASKS[1], 4)
    # Both turns of the short one can be done by now, and the long one's four are more than an episode may have.
    assert Starts(5, 3, False, [short, long]).choose(0, TASKS[0], {"kind0": 2}, ()) is None
    assert Starts(5, 3, False, [short, long]).choose(0, TASKS[0], {}, ()) is not None
    assert Starts(5, 3, False, [demonstration(TASKS[0], 1)]).choose(0, TASKS[0], {}, ()) is None
    assert Starts(5, 8, False, [long]).choose(0, TASKS[0], {"kind1": UNPLAYABLE}, ()) is None
    assert Starts(5, 8, True, [long]).choose(0, TASKS[0], {}, ()) is None
    assert Starts(5, 8, True, [long]).choose(0, TASKS[1], {}, ()) is not None


def test_the_policy_follows_its_own_successes(tmp_path: Path) -> None:
    own = demonstration(TASKS[0], 3, "step-0001/task-00000/member-0/try-0")
    starts = Starts(5, 8, False, recall={own.episode: own}.get)
    assert starts.choose(0, TASKS[1], {}, ()) is None
    start = starts.choose(0, TASKS[1], {}, ("step-0001/lost", own.episode))
    assert start is not None
    assert start.task == TASKS[0]
    assert start.opening.given == Given(3 - start.left, own.episode, "own")


def test_what_cannot_be_performed_again_is_said_once_and_not_begun_with_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = [demonstration(replace(TASKS[0], id="demo"))]
    step = Step(
        tmp_path,
        options(starts="demos", max_refills=0),
        followed=shown,
        error="InfraError: turn 2 cannot be performed again: x",
    )
    after = step.run().after(Progress())
    assert after.starts == {"kind0": UNPLAYABLE}
    assert capsys.readouterr().err.count("starts of kind0 are at the beginning from here on") == 1
    again = Step(tmp_path / "next", options(starts="demos"), followed=shown).run(replace(after, step=2))
    assert all(not group.plan.left for group in again.groups)


# --- branches ---


def test_where_to_branch_is_worth_more_where_the_value_is_near_one_half_and_the_reply_was_a_surprise() -> None:
    """Logprobs -0.5 and -1. A failure in a group of one half: v = 1/4. A success: 3/4. A failure where all fail: ..."""
    turn = make_turn((1,), (1, 2), (-0.5, -1.0))
    assert score(turn, 0.0, 0.5) == score(turn, 1.0, 0.5) == pytest.approx(1.125)
    assert score(turn, 0.0, 0.1) == pytest.approx(4 * 0.05 * 0.95 * 1.5)
    assert score(make_turn((1,), (1,) * 20, (-0.1,) * 20), 0.0, 1.0) == pytest.approx(0.8)  # the first eight tokens


def test_the_most_surprising_turns_of_two_episodes_branch_and_first_turns_never() -> None:
    def trunk(name: str, reward: float | None, *logprobs: float) -> Trajectory:
        return make_trajectory([make_turn((n,), (n,), (p,)) for n, p in enumerate(logprobs)], reward, episode=name)

    trunks = [
        trunk("calm", 0.0, -9, -0.1, -0.1),
        trunk("wild", 1.0, -1, -1, -3),
        trunk("short", 0.0, -9),
        trunk("middling", 0.0, -1, -2, -1),
        trunk("crashed", None, -9, -9, -9),
    ]
    openings = Branching(branches=2, forks=2).openings(trunks)
    given = [opening.given for opening in openings]
    assert given == [Given(2, "wild", "branch")] * 2 + [Given(1, "middling", "branch")] * 2
    assert [len(opening.turns) for opening in openings] == [2, 2, 1, 1]


def test_branches_become_further_members_of_their_group(tmp_path: Path) -> None:
    collected = Step(tmp_path, options(groups=1, group_size=2, branches=2)).run()
    (group,) = collected.groups
    assert [member.given and (member.given.turns, member.given.episode) for member in group] == [
        None,
        None,
        *[(1, "step-0001/task-00000/member-1/try-0")] * 2,
    ]
    assert group.trunks == group.from_the_start == group.members[:2]
    assert collected.after(Progress()).records == {group.plan.task.template: (1, 2)}


# --- successes kept ---


def test_an_earlier_success_joins_a_group_that_failed_as_a_whole_the_same_task_before_the_same_kind() -> None:
    names = [f"step-{step:04d}/task-0000{step}/member-0/try-0" for step in range(1, 6)]
    tasks = [TASKS[0], TASKS[2], TASKS[1], TASKS[4], TASKS[2]]
    known = {name: demonstration(task, 2, name) for name, task in zip(names, tasks, strict=True)}
    failed = [make_trajectory(TURNS[:1], reward, TASKS[0]) for reward in (0.0, 0.0, None)]

    def joined(most: int, age: int, step: int) -> list[str]:
        groups = Replay(most, age, known.get).joined(failed, step, names)
        return [member.episode for group in groups for member in group[3:]]

    assert joined(1, 10, 6) == names[:1]
    assert joined(3, 10, 6) == [names[0], names[4], names[3]]
    assert joined(3, 4, 6) == [names[4], names[3], names[1]]  # the first is five steps old
    assert joined(3, 10, 2) == names[:1], "what is still to come is not known"
    passed = make_trajectory(TURNS[:1], 1.0, TASKS[0])
    assert Replay(1, 10, known.get).joined([*failed, passed], 6, names) == []
