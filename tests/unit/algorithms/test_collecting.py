"""Which episodes a step consists of, and which of them are learned from.

All calls of the code under test are in `Step` and `learned`; the tests speak of tasks, episodes and rewards alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tiny import make_task, make_trajectory, make_turn

from clickgrad.algorithms.collecting import Collected, Collector
from clickgrad.algorithms.m_grpo import MGrpo
from clickgrad.algorithms.protocol import Group, GroupPlan
from clickgrad.algorithms.sequence import TaskSequence
from clickgrad.config import Config, ReinforceSection
from clickgrad.errors import UserError
from clickgrad.learn.progress import Progress
from clickgrad.recipes.algorithm import make_algorithm
from clickgrad.report.rows import reinforce_row
from clickgrad.rollout.scheduler import Bounds
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Opening, Task, Trajectory, Turn

TASKS = [replace(make_task(f"t{number}"), template=f"t{number}") for number in range(7)]
SEED = 5
SEQUENCE = TaskSequence(TASKS, SEED)
ORDER = [SEQUENCE.at(place).id for place in range(14)]  # two epochs
MIXED, ZEROS, ONES = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
CRASHED = None
OPTIONS = ReinforceSection(groups=2, group_size=3, max_refills=2)
Rewards = Sequence[float | None]


@dataclass
class Step:
    """A step of two groups of three, refilled at most twice, whose members get the rewards that are set for a place."""

    folder: Path
    rewards: Mapping[int, Rewards] = field(default_factory=dict)  # of the members, by place of the task; else MIXED
    tries: Mapping[str, Rewards] = field(default_factory=dict)  # of "<place>/<member>", try by try
    options: ReinforceSection = OPTIONS
    retries: int = 1
    prompt_format: str = "format"
    played: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)  # which task an episode was played on
    seeds: set[int] = field(default_factory=set)

    async def play(self, episode: str, task: Task, seed: int, opening: Opening) -> Trajectory:
        _, place, member, number = (int(part.rpartition("-")[2]) for part in episode.split("/"))
        self.played.append(episode)
        self.said[episode] = task.id
        self.seeds.add(seed)
        await asyncio.sleep(0.001 * (7 * member + place) % 0.003)  # they end in another order than they began in
        tries = self.tries.get(f"{place}/{member}", (self.rewards.get(place, MIXED)[member],) * (number + 1))
        return make_trajectory([make_turn([1, 2], [3, 4])], tries[number], task, episode)

    def run(self, before: Progress | None = None) -> Collected:
        algorithm = make_algorithm(Config(seed=SEED, reinforce=self.options), TASKS)
        bounds = Bounds(concurrency=4, retries=self.retries)
        collector = Collector(algorithm, self.play, bounds, SEED, self.prompt_format, lambda text: None)
        before = before or Progress()
        return asyncio.run(collector.collect(before, self.file(before)))

    def file(self, before: Progress | None = None) -> TrajectoryFile:
        return TrajectoryFile(self.folder / f"step-{(before or Progress()).step + 1:04d}.jsonl.zst")


def learned(groups: Sequence[list[Trajectory]], step: int, max_staleness: int) -> list[list[str]]:
    """The episodes left to learn from."""
    algorithm = MGrpo(SEQUENCE, 2, 3, 2, max_staleness)
    return [[member.episode for member in algorithm.fresh(as_group(group), step - 1)] for group in groups]


def as_group(members: Sequence[Trajectory]) -> Group:
    return Group(GroupPlan(0, TASKS[0], len(members)), tuple(members))


def tasks_of(groups: Sequence[Group]) -> list[str]:
    """Of every group its task; all members have the same."""
    for group in groups:
        assert len({member.task.id for member in group}) == 1
    return [group.members[0].task.id for group in groups]


def of_version(*versions: int) -> list[Turn]:
    turn = make_turn([1, 2], [3, 4])
    return [replace(turn, completion=replace(turn.completion, policy_version=version)) for version in versions]


# --- groups ---


def test_a_group_is_one_task_played_group_size_times_and_groups_follow_the_order_of_the_tasks(tmp_path: Path) -> None:
    step = Step(tmp_path)
    collected = step.run()
    assert tasks_of(collected.groups) == ORDER[:2]
    assert [[member.episode for member in group] for group in collected.groups] == [
        [f"step-0001/task-{place:05d}/member-{member}/try-0" for member in range(3)] for place in range(2)
    ]
    assert collected.groups == collected.mixed
    assert collected.after(Progress()).tasks_taken == 2
    assert [[member.reward for member in group] for group in collected.groups] == [list(MIXED), list(MIXED)]
    assert len(step.seeds) == 6, "every episode draws from a stream of its own"


def test_the_next_step_goes_on_in_the_order_and_passes_into_the_next_epoch(tmp_path: Path) -> None:
    """Seven tasks: the sixth and the seventh place end the first epoch, the eighth begins the second."""
    before = Progress(step=3, tasks_taken=6, episodes=18)
    collected = Step(tmp_path).run(before)
    assert tasks_of(collected.groups) == ORDER[6:8]
    assert collected.groups[0].members[0].episode.startswith("step-0004/task-00006/")
    after = collected.after(before)
    assert (after.step, after.tasks_taken, after.episodes, after.crashed, after.skipped_groups) == (4, 8, 24, 0, 0)


def test_the_order_and_the_seeds_are_the_same_in_every_process(tmp_path: Path) -> None:
    """Written down from one process: a run that is resumed is in another one."""
    assert ORDER == ["t2", "t0", "t4", "t1", "t3", "t6", "t5", "t1", "t5", "t2", "t3", "t4", "t6", "t0"]
    step = Step(tmp_path)
    step.run()
    assert min(step.seeds) == 22715396769268  # the first 6 bytes of sha256 of "5/<episode>"


# --- refills ---


def test_groups_without_contrast_are_replaced_by_the_next_tasks(tmp_path: Path) -> None:
    """Places 0 and 2 fare alike, so 1 and 3 are learned from."""
    collected = Step(tmp_path, {0: ZEROS, 2: ONES}).run()
    assert tasks_of(collected.groups) == ORDER[:4]
    assert tasks_of(collected.mixed) == [ORDER[1], ORDER[3]]
    assert collected.after(Progress()).tasks_taken == 4
    after = collected.after(Progress())
    assert (after.episodes, after.skipped_groups) == (12, 2)
    assert after.records == {ORDER[0]: (0, 3), ORDER[1]: (1, 3), ORDER[2]: (3, 3), ORDER[3]: (1, 3)}


def test_only_as_many_groups_are_refilled_as_are_missing(tmp_path: Path) -> None:
    step = Step(tmp_path, {1: ZEROS})
    assert tasks_of(step.run().groups) == ORDER[:3]
    assert len(step.played) == 9


def test_refills_are_capped_and_what_is_there_is_learned_from(tmp_path: Path) -> None:
    """At most 2 + 2 groups: of the places 0, 1 and then 2, 3 only one has contrast."""
    collected = Step(tmp_path, {0: ZEROS, 1: ONES, 3: ZEROS}).run()
    assert tasks_of(collected.groups) == ORDER[:4]
    assert tasks_of(collected.mixed) == [ORDER[2]]


def test_without_refills_a_step_may_have_nothing_to_learn_from(tmp_path: Path) -> None:
    options = ReinforceSection(groups=2, group_size=3, max_refills=0)
    collected = Step(tmp_path, {0: ZEROS, 1: ONES}, options=options).run()
    assert len(collected.groups) == 2
    assert collected.mixed == ()


# --- crashes ---


def test_a_crashed_member_is_tried_again_and_every_try_is_counted(tmp_path: Path) -> None:
    collected = Step(tmp_path, tries={"0/1": (CRASHED, 0.0)}).run()
    assert [member.episode.rpartition("/")[2] for member in collected.groups[0]] == ["try-0", "try-1", "try-0"]
    assert len(collected.episodes) == 7
    after = collected.after(Progress())
    assert (after.episodes, after.crashed) == (7, 1)
    assert after.records[ORDER[0]] == (1, 3)


def test_who_crashes_every_time_keeps_a_place_without_a_reward_and_out_of_the_record(tmp_path: Path) -> None:
    collected = Step(tmp_path, {0: (1.0, CRASHED, 0.0)}).run()
    assert [member.reward for member in collected.mixed[0]] == [1.0, CRASHED, 0.0]
    after = collected.after(Progress(records={ORDER[0]: (2, 5)}))
    assert after.records[ORDER[0]] == (3, 7)  # 2 of 5 before, 1 of 2 now
    assert after.crashed == 2


def test_a_crash_beside_successes_is_no_contrast(tmp_path: Path) -> None:
    """A crash is not a failure: taken for one, it would make an advantage out of nothing."""
    collected = Step(tmp_path, {0: (1.0, CRASHED, 1.0), 1: (CRASHED, CRASHED, 0.0)}).run()
    assert tasks_of(collected.mixed) == ORDER[2:4]


def test_a_group_that_only_crashed_is_neither_all_failed_nor_all_passed(tmp_path: Path) -> None:
    collected = Step(tmp_path, {0: (CRASHED,) * 3, 1: ZEROS, 2: ONES}).run()
    row = reinforce_row(1, collected, (), 0.0, 0.0, {})
    assert (row.groups_all_0, row.groups_mixed, row.groups_all_1) == (1, 1, 1)
    assert (row.episodes, row.crashed) == (15, 6)  # twelve places, three of them tried twice
    assert row.success == pytest.approx(4 / 9)  # three of three, one of three, none of three


# --- resuming ---


def test_stored_episodes_are_used_and_only_the_missing_ones_are_played(tmp_path: Path) -> None:
    whole = Step(tmp_path / "whole", {0: ZEROS})
    straight = whole.run()
    kept = straight.episodes[:5]
    interrupted = Step(tmp_path / "interrupted", {0: ZEROS})
    interrupted.file().extend(kept)
    collected = interrupted.run()
    assert sorted(interrupted.played) == sorted(set(whole.played) - {one.episode for one in kept})
    assert {one.episode for one in collected.fresh} == set(interrupted.played)
    assert collected.sampled_tokens == 2 * len(interrupted.played)
    assert collected.groups == straight.groups
    assert collected.after(Progress()) == straight.after(Progress())


def test_a_finished_step_is_read_without_playing_anything_refills_and_crashes_included(tmp_path: Path) -> None:
    first = Step(tmp_path, {0: ZEROS, 1: (1.0, CRASHED, 0.0)}).run()
    again = Step(tmp_path)
    collected = again.run()
    assert again.played == []
    assert (collected.groups, collected.mixed, collected.fresh) == (first.groups, first.mixed, ())
    assert collected.after(Progress()) == first.after(Progress())


def test_every_episode_is_in_the_file_as_soon_as_it_has_ended(tmp_path: Path) -> None:
    step = Step(tmp_path, {0: (CRASHED, 0.0, 1.0)})
    collected = step.run()
    assert {one.episode for one in step.file().read()} == set(step.played)
    assert step.file().read() == list(collected.episodes)


def test_stored_episodes_of_another_prompt_format_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    Step(tmp_path).run()
    other = Step(tmp_path, prompt_format="another")
    with pytest.raises(UserError, match="recorded with prompt format format, this run's is another: record it again"):
        other.run()
    assert other.played == []


# --- a curriculum ---


def test_a_curriculum_passes_over_tasks_and_says_how_far_it_came(tmp_path: Path) -> None:
    """All tasks but one were always solved, so most places are passed over: more are taken than are played."""
    records = {task.id: (8, 8) for task in TASKS if task.id != ORDER[3]}
    options = ReinforceSection(groups=2, group_size=3, max_refills=0, curriculum=True)
    collected = Step(tmp_path, options=options).run(Progress(records=records))
    places = [int(group.members[0].episode.split("/")[1].removeprefix("task-")) for group in collected.groups]
    assert tasks_of(collected.groups) == [SEQUENCE.at(place).id for place in places]
    assert places == sorted(places)
    assert places[0] <= 3
    assert collected.after(Progress()).tasks_taken == places[-1] + 1
    resumed = Step(tmp_path, options=options)
    assert resumed.run(Progress(records=records)).groups == collected.groups
    assert resumed.played == []


# --- what is learned from ---


def test_members_with_a_token_of_too_old_a_policy_are_left_out() -> None:
    """Step 5 is learned by version 4: with a staleness of 1 whatever version 3 or 4 said is fresh enough."""
    group = [
        make_trajectory(of_version(*versions), reward, episode=str(versions))
        for versions, reward in (((4, 4), 1.0), ((3, 4), 0.0), ((2, 4), 0.0), ((4, 2, 4), 1.0), ((2,), CRASHED))
    ]
    assert learned([group], 5, 1) == [["(4, 4)", "(3, 4)", "(2,)"]]
    assert learned([group], 5, 0) == [["(4, 4)", "(2,)"]]
    assert learned([group, group], 5, 2) == [[member.episode for member in group]] * 2


def test_an_episode_that_ended_before_its_first_reply_has_no_old_tokens() -> None:
    """Its first page did not fit the context: judged, and a failure that counts in the baseline."""
    group = [make_trajectory((), 0.0, episode="none"), make_trajectory(of_version(7), 1.0, episode="one")]
    assert learned([group], 8, 0) == [["none", "one"]]


def test_the_figures_of_a_step_tell_how_old_its_tokens_were() -> None:
    """Step 5, version 4: the ages are 0 and 2; an episode without a reply has none."""
    group = [make_trajectory(of_version(*v), r) for v, r in (((4, 4), 1.0), ((2, 4), 0.0), ((), 0.0))]
    collected = Collected((as_group(group),), (as_group(group),), tuple(group), (), 1.0)
    row = reinforce_row(5, collected, (), 0.0, 0.0, {})
    assert (row.max_staleness, row.mean_staleness) == (2, 1.0)
    assert row.mean_turns == pytest.approx(4 / 3)
