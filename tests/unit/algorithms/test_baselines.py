"""Filtered BC, AWR, DigiRL and WebRL: who is in the pool, and what each makes of it, worked out by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import cosh, e, exp

import pytest
from tiny import make_task, make_trajectory, make_turn

from clickgrad.algorithms import awr, digirl, webrl
from clickgrad.algorithms.critic import Critic, Table, auc, brier
from clickgrad.algorithms.phases import NO_GAIN, NO_SUCCESS, NOT_TRUSTED
from clickgrad.algorithms.pool import Labelled, Labels, Pool, newest_of_each
from clickgrad.algorithms.protocol import Algorithm, Group, GroupPlan, Lesson
from clickgrad.config import Config, load_config
from clickgrad.errors import UserError
from clickgrad.learn.progress import NO_ANSWERS, Answers, Progress
from clickgrad.learn.samples import clone_samples
from clickgrad.recipes.algorithm import make_algorithm, refuse_silent
from clickgrad.types import Given, Task, Trajectory

TASKS = [
    replace(make_task(f"task-{number}"), template=f"toy.{number % 3}", sites=("toy" if number % 3 else "other",))
    for number in range(12)
]
TABLE = ["values.kind=table"]


def episode(
    reward: float | None, task: Task = TASKS[0], name: str = "step-0001/a", logprob: float = -0.2
) -> Trajectory:
    """Two turns, told apart by the name."""
    number = sum(name.encode())
    turns = [make_turn([1, number], [2], [logprob]), make_turn([1, number, 3], [4, 5], [logprob] * 2)]
    return make_trajectory(turns, reward, task, name)


def group(index: int, *rewards: float | None, step: int = 1) -> Group:
    task = TASKS[index]
    members = [
        episode(reward, task, f"step-{step:04d}/task-{index:05d}/member-{number}/try-0")
        for number, reward in enumerate(rewards)
    ]
    return Group(GroupPlan(index, task, len(members)), tuple(members))


def make(*settings: str, past: Mapping[int, Sequence[Trajectory]] | None = None) -> Algorithm:
    config = load_config(None, [f"reinforce.{settings[0]}", *settings[1:]], "reinforce")
    refuse_silent(config)
    return make_algorithm(config, TASKS, past=lambda step: (past or {}).get(step, ()))


def taught(algorithm: Algorithm, groups: Sequence[Group], step: int = 1) -> Lesson:
    """With what the learner would answer: replies are as likely as when they were sampled."""
    before = Progress(step=step - 1)
    question = algorithm.question(before, groups)
    return algorithm.lesson(before, groups, Answers(scored=question.scored) if question else NO_ANSWERS)


def told(algorithm: Algorithm, groups: Sequence[Group], *values: float) -> Lesson:
    """The same in the first step, with what the head expects of the turns: by episode, then by turn."""
    question = algorithm.question(Progress(), groups)
    assert question
    (lot,) = question.lots
    assert len(lot.prompts) == len(lot.outcomes) == len(values)
    return algorithm.lesson(Progress(), groups, Answers((0.5,) * len(values), (values,), question.scored))


def labelled(outcome: float, turns: int = 2) -> Labelled:
    return Labelled(1, make_trajectory([make_turn([1], [2])] * turns, outcome), outcome)


# --- the pool ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["filtered-bc", "awr", "digirl", "webrl"])
def test_crashed_episodes_are_in_no_pool(name: str) -> None:
    algorithm = make(f"algorithm={name}", *([] if name == "filtered-bc" else TABLE))
    crashed = group(0, None, None)
    assert not algorithm.has_contrast(crashed)
    assert taught(algorithm, [crashed]).samples == ()
    mixed = group(0, None, 1.0)
    own = {turn.prompt_ids for turn in mixed.members[1].turns}
    lesson = taught(algorithm, [mixed])
    assert lesson.samples
    assert {sample.ids[: -sample.reply_len] for sample in lesson.samples} <= own


def test_a_pool_is_a_window_of_steps_and_leaves_out_who_follows_another() -> None:
    branch = replace(episode(1.0, name="step-0002/b"), given=Given(1, "step-0002/a", "branch"))
    past = {1: [episode(1.0)], 2: [episode(0.0, name="step-0002/a"), branch]}
    found = Pool(lambda step: past[step], 2).at(3, [group(1, 1.0, step=3)])
    assert [(one.step, one.outcome) for one in found] == [(2, 0.0), (3, 1.0)]


def test_shuffled_outcomes_stay_with_their_task_and_wrong_ones_are_as_many_as_said() -> None:
    some = [episode(float(number < 20), name=f"step-0001/{number}") for number in range(100)]
    shuffled = Labels(shuffled=True).of(1, some)
    assert sum(one.outcome for one in shuffled) == 20
    assert [one.outcome for one in shuffled] != [one.outcome for one in Labels().of(1, some)]
    assert shuffled == Labels(shuffled=True).of(1, some[::-1]), "whatever order they came in"
    wrong = [one for one in Labels(accuracy=0.8).of(1, some) if one.outcome != one.episode.reward]
    assert 10 < len(wrong) < 30


def test_a_task_gives_at_most_so_many_the_newest() -> None:
    pool = [Labelled(step, episode(1.0, TASKS[task]), 1.0) for step, task in ((1, 0), (2, 0), (3, 1), (4, 0))]
    assert [one.step for one in newest_of_each(pool, 2)] == [2, 3, 4]


# --- Filtered BC ------------------------------------------------------------------------------------------------------


def test_filtered_bc_clones_all_turns_of_successes_alike_and_of_nothing_else() -> None:
    lesson = taught(make("algorithm=filtered-bc"), [group(0, 1.0, 0.0), group(1, 0.0, 0.0)])
    assert sorted(len(sample.ids) for sample in lesson.samples) == [3, 5]
    assert {(sample.weight, sample.advantage) for sample in lesson.samples} == {(1.0, 1.0)}
    assert lesson.figures["pool_turns"] == 2


@pytest.mark.parametrize(
    ("settings", "rewards"),
    [(("algorithm=filtered-bc",), (1.0, 1.0)), (("algorithm=awr", "awr.beta=1e9", *TABLE), (1.0, 0.0))],
    ids=["filtered-bc on successes", "awr with an endless beta on all"],
)
def test_what_has_nothing_to_choose_by_is_cloning(settings: tuple[str, ...], rewards: tuple[float, ...]) -> None:
    """The samples are those of cloning; that an update by such is a step of cloning is in test_weighted_loss.py."""
    groups = [group(0, *rewards), group(1, *rewards)]
    cloning = Counter(sample for some in groups for one in some for sample in clone_samples(one))
    found = taught(make(*settings), groups).samples
    assert len(found) == 8
    assert Counter(replace(sample, weight=round(sample.weight, 6)) for sample in found) == cloning


@pytest.mark.parametrize("name", ["filtered-bc", "digirl"])
def test_without_a_success_there_is_no_update_and_it_is_said(name: str) -> None:
    algorithm = make(f"algorithm={name}", *([] if name == "filtered-bc" else TABLE))
    lesson = taught(algorithm, [group(0, 0.0, 0.0), group(1, 0.0, None)])
    assert (lesson.samples, lesson.said) == ((), NO_SUCCESS)


def test_successes_without_a_turn_above_the_bound_make_no_update_and_it_is_said() -> None:
    """With a limit of one turn the bound of the paper's form is 1, and no advantage is above 1."""
    lesson = told(make("algorithm=digirl", "agent.max_turns=1"), [group(0, 1.0, 1.0)], *(0.5,) * 4)
    assert (lesson.samples, lesson.said) == ((), NO_GAIN)


def test_tokens_may_count_instead_of_turns() -> None:
    """Replies of 1 and 2 tokens: 1.5 on average, so weights 2/3 and 4/3."""
    lesson = taught(make("algorithm=filtered-bc", "reinforce.normalizer=token"), [group(0, 1.0)])
    assert {one.reply_len: one.weight for one in lesson.samples} == pytest.approx({1: 2 / 3, 2: 4 / 3})


# --- AWR --------------------------------------------------------------------------------------------------------------


def test_awrs_advantages_and_weights() -> None:
    assert awr.discounted_advantages(labelled(1.0), (0.5, 0.8), 0.9) == pytest.approx([0.4, 0.2])
    assert awr.discounted_advantages(labelled(0.0), (0.5, 0.8), 0.9) == pytest.approx([-0.5, -0.8])
    # 5 and 1 are 1 and -1 when standardised; e and 1/e have the mean cosh 1.
    assert awr.exponential_weights([5.0, 1.0], 1.0, 20.0) == pytest.approx([e / cosh(1), 1 / e / cosh(1)])
    # 1 / 0.25 is 4: the weight e^4 = 54.6 is cut at 20, beside e^-4.
    assert awr.exponential_weights([3.0, 1.0], 0.25, 20.0)[0] == pytest.approx(40 / (20 + exp(-4)))
    assert awr.exponential_weights([2.0, 2.0], 1.0, 20.0) == [1.0, 1.0]


def test_awr_weighs_every_turn_by_its_own_value() -> None:
    """Discount 0.9: 0.9 - 0.4 and 1 - 0.6 of the success, 0 - 0.3 and 0 - 0.7 of the failure."""
    played = group(0, 1.0, 0.0)
    lesson = told(make("algorithm=awr"), [played], 0.4, 0.6, 0.3, 0.7)
    expected = awr.exponential_weights([0.5, 0.4, -0.3, -0.7], 0.5, 20.0)
    prompts = [turn.prompt_ids for one in played for turn in one.turns]
    found = {sample.ids[: -sample.reply_len]: sample.weight for sample in lesson.samples}
    assert found == pytest.approx(dict(zip(prompts, expected, strict=True)))


def test_awr_with_an_endless_beta_clones_everything() -> None:
    groups = [group(0, 1.0, 0.0), group(1, 0.0, 0.0)]
    lesson = taught(make("algorithm=awr", "awr.beta=1e9", *TABLE), groups)
    assert len(lesson.samples) == 8
    assert [sample.weight for sample in lesson.samples] == pytest.approx([1.0] * 8)
    usual = taught(make("algorithm=awr", *TABLE), groups)
    assert max(sample.weight for sample in usual.samples) > 1.5


# --- DigiRL -----------------------------------------------------------------------------------------------------------


def test_digirls_advantages() -> None:
    """The docstrings' example: values 0.4 and 0.6, discount 1/2."""
    passed, failed = labelled(1.0), labelled(0.0)
    assert digirl.paper_advantages(passed, (0.4, 0.6), 0.5) == pytest.approx([0.5 + 0.5 * 0.2, 1.0])
    assert digirl.paper_advantages(failed, (0.4, 0.6), 0.5) == pytest.approx([0.2, -0.6])
    assert digirl.code_advantages(passed, (0.4, 0.6), 0.5) == pytest.approx([0.2 + 0.5 - 0.05, 0.4 + 1 - 0.05])


def test_digirl_without_values_keeps_what_is_near_enough_to_the_success() -> None:
    """V = 0: G_t + r_t > 0.05. With g = 1/2 and six turns G is 1/32, 1/16, ..., 1: the first turn falls out."""
    found = digirl.code_advantages(labelled(1.0, 6), (0.0,) * 6, 0.5)
    rewards = [0.0] * 5 + [1.0]
    assert found == pytest.approx([0.5 ** (5 - turn) + rewards[turn] - 0.05 for turn in range(6)])
    assert [one > 0 for one in found] == [False, True, True, True, True, True]


@pytest.mark.parametrize(("form", "max_turns", "kept"), [("paper", 10, {3, 5}), ("paper", 5, {5}), ("code", 10, {5})])
def test_digirl_draws_from_turns_of_successes_above_the_bound(form: str, max_turns: int, kept: set[int]) -> None:
    """Values 0.9 and 0.2. Paper, the first turn: 0.5 + 0.5 * (0.2 - 0.9) = 0.15, above 1/10 and below 1/5. Code:
    0.2 - 0.9 + 0.5 - 0.05, below 0. The failure's first turn has 0.9 - 0.1, and never counts."""
    settings = [f"digirl.form={form}", f"agent.max_turns={max_turns}", "digirl.top_share=1", "digirl.turns=40"]
    played = group(0, 1.0, 0.0)
    lesson = told(make("algorithm=digirl", *settings), [played], 0.9, 0.2, 0.1, 0.9)
    assert len(lesson.samples) == 40
    assert lesson.figures["pool_turns"] == len(kept)
    assert {len(sample.ids) for sample in lesson.samples} == kept
    own = {turn.prompt_ids for turn in played.members[0].turns}
    assert {sample.ids[: -sample.reply_len] for sample in lesson.samples} <= own


def test_digirl_takes_surprising_successes_first_and_never_fills_up_with_failures() -> None:
    """Templates that passed 1 of 5 and 4 of 5: V_I is 2/7 and 5/7."""
    hard = [Labelled(1, episode(float(n == 2), TASKS[0], f"h{n}"), float(n == 2)) for n in range(5)]
    easy = [Labelled(1, episode(float(n > 0), TASKS[1], f"e{n}"), float(n > 0)) for n in range(5)]
    assert digirl.surprising(hard + easy, 0.2) == [2, 9]
    assert digirl.surprising(hard + easy, 1.0) == [2, 9, 8, 7, 6]


# --- WebRL ------------------------------------------------------------------------------------------------------------


def test_webrls_advantages() -> None:
    """Values 0.4 and 0.6. Code, a success: 0.2 - 0.05 + 1 + (1 + 0.9) and -0.6 - 0.05 + 1 + 1."""
    passed, failed = labelled(1.0), labelled(0.0)
    assert webrl.paper_advantages(passed, (0.4, 0.6), 0.5) == pytest.approx([0.1 + 0.3, 0.2 + 0.2])
    assert webrl.paper_advantages(passed, (0.4, 0.6), 0.25) == pytest.approx([0.05 + 0.45, 0.1 + 0.3])
    assert webrl.paper_advantages(failed, (0.4, 0.6), 0.5) == pytest.approx([0.1 - 0.2, -0.3 - 0.3])
    assert webrl.code_advantages(passed, (0.4, 0.6), 0.9) == pytest.approx([3.05, 1.35])
    assert webrl.code_advantages(failed, (0.4, 0.6), 0.9) == pytest.approx([0.15, -0.65])


def test_webrl_learns_from_all_turns_of_successes_and_by_form_from_some_of_failures() -> None:
    """Values 0.4 and 0.6 of both, as above: in the code's form the failure's first turn counts, its second does not."""
    played = group(0, 1.0, 0.0)
    prompts = [turn.prompt_ids for one in played for turn in one.turns]
    code = told(make("algorithm=webrl"), [played], 0.4, 0.6, 0.4, 0.6)
    assert {one.ids[: -one.reply_len]: one.weight for one in code.samples} == dict.fromkeys(prompts[:3], 1.0)
    paper = told(make("algorithm=webrl", "webrl.form=paper"), [played], 0.4, 0.6, 0.4, 0.6)
    found = {one.ids[: -one.reply_len]: one.advantage for one in paper.samples}
    assert found == pytest.approx(dict(zip(prompts, (0.4, 0.4, -0.1, -0.6), strict=True)))


def test_webrl_replays_successes_within_the_band_and_at_most_so_many() -> None:
    """Mean token probabilities e^-0.01 = 0.99, e^-0.2 = 0.82 and e^-1 = 0.37: only the second is in (0.5, 0.95]."""
    logprobs = {"a": -0.01, "b": -0.2, "c": -1.0}
    past = {1: [episode(1.0, TASKS[0], f"step-0001/{name}", p) for name, p in logprobs.items()]}
    past[1] += [episode(0.0, TASKS[1], "step-0001/d")]
    fresh = [group(2, 0.0, 1.0, step=2)]
    lesson = taught(make("algorithm=webrl", *TABLE, past=past), fresh, step=2)
    assert lesson.figures["replayed_turns"] == 2
    replayed = {sample.ids for sample in lesson.samples} & {
        turn.prompt_ids + turn.completion.ids for turn in past[1][1].turns
    }
    assert len(replayed) == 2
    # Four new turns, so with a share of 1/2 two are replayed of the four that could be.
    likely = {1: [episode(1.0, TASKS[0], f"step-0001/{name}") for name in "ab"]}
    half = make("algorithm=webrl", "webrl.replay=0.5", *TABLE, past=likely)
    assert taught(half, fresh, step=2).figures["replayed_turns"] == 2


def test_webrl_plays_on_sites_of_what_failed_unless_it_is_too_easy_or_too_hard() -> None:
    algorithm = make("algorithm=webrl", "reinforce.groups=4", "reinforce.group_size=1", *TABLE)
    first = algorithm.plan(Progress(), [])
    assert len(first) == 4
    # toy.1 failed lately and is half solved; toy.2 is a neighbour that always passes; toy.0 is on another site.
    beliefs = {"toy.1": (4.0, 4.0), "toy.2": (9.0, 0.0), "toy.0": (3.0, 0.2)}
    assert {plan.task.template for plan in algorithm.plan(Progress(beliefs=beliefs), [])} == {"toy.1"}
    # Nobody has tried toy.2 yet: an even chance, so it comes as well.
    found = algorithm.plan(Progress(beliefs={"toy.1": (4.0, 4.0)}), [])
    assert {plan.task.template for plan in found} == {"toy.1", "toy.2"}
    # What fails always is below the band; then whatever comes next is better than nothing.
    hopeless = {"toy.1": (0.0, 40.0), "toy.2": (0.0, 40.0)}
    assert len(algorithm.plan(Progress(beliefs=hopeless), [])) == 4


# --- values -----------------------------------------------------------------------------------------------------------


def test_brier_score_and_auc() -> None:
    assert brier([(0.8, 1.0), (0.4, 0.0)]) == pytest.approx(0.1)
    assert auc([(0.8, 1.0), (0.4, 0.0), (0.4, 1.0)]) == pytest.approx((1 + 0.5) / 2)
    assert auc([(0.1, 1.0), (0.4, 0.0)]) == 0.0
    assert (brier([]), auc([(0.3, 1.0)])) == (None, None)


def test_a_table_knows_templates_and_their_pages() -> None:
    """2 of 4 passed: 3/6. Another page, that only a passed try saw: (1 + 1/2) / (1 + 1)."""
    turn = make_turn([1], [2])
    special = replace(turn, observation=replace(turn.observation, url="http://toy/order/7?x=1"))
    pool = [labelled(0.0), labelled(0.0), labelled(1.0)]
    pool.append(Labelled(1, make_trajectory([special], 1.0), 1.0))
    table = Table.of(pool)
    assert table.expected("toy.choose") == 0.5
    other = replace(turn, observation=replace(turn.observation, url="http://toy/order/12"))
    assert table.value(pool[0], other) == 0.75
    assert table.expected("unseen") == 0.5


def test_exact_values_are_what_came_of_playing_on() -> None:
    """Two tries, one passed. From the second turn of the one that failed two others went on, and one of them passed."""
    critic = Critic("exact", continuations=2)
    played = group(0, 1.0, 0.0)
    openings = critic.openings(played.members)
    assert [(one.given.episode[-14:], one.given.turns, len(one.turns)) for one in openings if one.given] == [
        ("member-0/try-0", 1, 1),
        ("member-0/try-0", 1, 1),
        ("member-1/try-0", 1, 1),
        ("member-1/try-0", 1, 1),
    ]
    left = Given(1, played.members[1].episode, "branch")
    others = [replace(episode(reward, name=f"b{reward}"), given=left) for reward in (1.0, 0.0, None)]
    found = critic.appraise(Labels().of(1, played.members), others, NO_ANSWERS)
    assert [list(values) for values in found.values] == [[0.5, 1.0], [0.5, pytest.approx(1 / 3)]]
    assert sorted(found.foreseen) == [(0.0, 1.0), (0.5, 0.0), (1.0, 0.0)]


def test_exact_values_ask_for_episodes_that_leave_those_that_have_ended() -> None:
    algorithm = make("algorithm=awr", "values.kind=exact", "reinforce.groups=1", "reinforce.group_size=2")
    (first,) = algorithm.plan(Progress(), [])
    assert (first.size, first.branches) == (2, ())
    members = tuple(episode(1.0, first.task, f"step-0001/task-{first.index:05d}/member-{n}/try-0") for n in range(2))
    (grown,) = algorithm.plan(Progress(), [Group(first, members)])
    assert len(grown.branches) == 2 * 2


def test_values_that_foresee_nothing_may_hold_back_the_update() -> None:
    algorithm = make("algorithm=awr", "values.least_auc=0.6", *TABLE)
    lesson = taught(algorithm, [group(0, 1.0, 0.0)])
    assert (lesson.samples, lesson.said) == ((), NOT_TRUSTED)
    assert lesson.figures["value_auc"] == 0.5


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (["reinforce.algorithm=awr", "reinforce.kl_beta=0.1"], "reinforce.kl_beta does nothing with .*'awr'"),
        (["reinforce.algorithm=awr", "webrl.beta=2"], "the section webrl does nothing with .*'awr'"),
        (["reinforce.algorithm=filtered-bc", "values.kind=table"], "the section values does nothing with"),
        (["reinforce.batch=8"], "reinforce.batch does nothing with .*'m-grpo'"),
        (["reinforce.group_size=1"], "takes at least 2"),
        (["awr.beta=2"], "the section awr does nothing with .*'m-grpo'"),
        (["reinforce.algorithm=awr", "reinforce.rollouts=x", "values.kind=exact"], "nothing is played"),
        (["reinforce.algorithm=awr", "reinforce.shuffle_rewards=true", "reinforce.group_size=1"], "several episodes"),
    ],
)
def test_options_that_do_nothing_with_an_algorithm_are_refused(settings: list[str], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint):
        refuse_silent(load_config(None, settings, "reinforce"))
    refuse_silent(Config())
