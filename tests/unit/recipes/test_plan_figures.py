"""What a plan reckons with: models, memory, speeds and workloads against numbers worked out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from clickgrad.backends.memory import BACK_MORE, KEPT_MORE
from clickgrad.errors import UserError
from clickgrad.planning.figures import read_measured, shipped
from clickgrad.planning.memory import Memory, reckon
from clickgrad.planning.options import Options
from clickgrad.planning.setup import passes, set_up
from clickgrad.planning.simulation import Work
from clickgrad.planning.workload import comb_tokens, made_up, unseen_tokens
from clickgrad.policy.sizes import find_model

LLAMA = Options(model="llama-3.1-8b", device="a100-80gb", gpus=8, cores=64)
SMALL = Options(model="smollm2")
ENGINE = {
    "threads": 2,
    "busy_cores": 1.5,
    "read_ms_256": 300.0,
    "read_ms_768": 812.0,
    "draw_ms_1x256": 50.0,
    "draw_ms_16x256": 200.0,
    "draw_ms_16x768": 281.92,
    "swap_ms": 400.0,
}


# --- models and memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "published"),
    [("smollm2", 134_515_008), ("llama-3.1-8b", 8_030_261_248), ("qwen2.5-3b", 3_085_938_688)],
)
def test_a_model_has_the_parameters_that_its_makers_count(name: str, published: int) -> None:
    # Qwen's layers have biases besides, a few in a hundred thousand.
    assert find_model(name).parameters == pytest.approx(published, rel=1e-4)


def test_a_folder_with_a_config_is_a_model(tmp_path: Path) -> None:
    config = {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert find_model(str(tmp_path)).parameters == find_model("llama-3.1-8b").parameters


@pytest.mark.parametrize("text", ["{", "[]", '{"hidden_size": 1}', '{"hidden_size": "x", "num_attention_heads": 1}'])
def test_a_config_that_describes_no_decoder_is_the_users_mistake(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(UserError, match="does not describe a model"):
        find_model(str(tmp_path))


def test_the_memory_of_llama_8b_on_eight_gpus() -> None:
    # Less in a micro-batch than a turn has. 64 browsers on four engines are 16 rows each.
    setup = replace(set_up(replace(LLAMA, reference=True, micro_tokens=1000)), session_mb=200)
    memory = reckon(setup, browsers=64, context=2000)
    # Two bytes a weight: 8.03e9 x 2.
    assert memory.engine_weights == pytest.approx(16.06, abs=0.01)
    # Keys and values of 32 layers with 8 heads of 128: 2 x 32 x 1024 x 2 bytes = 131,072 a token; 16 x 2000 tokens.
    assert memory.engine_cache == pytest.approx(4.194, abs=0.001)
    # Weights, gradients and two moments in four bytes, the start policy in two, over 4 learners:
    # (4 x 32.12 + 16.06) / 4 = 36.14. Whole for a moment: embedding and head, 1.0507e9, with two layers of 218.1e6,
    # in two bytes: 2.974; the
    # gradients of those and of one layer in two and in four: 1.2688e9 x 6 = 7.613.
    assert memory.learner_state == pytest.approx(36.14 + 2.974 + 7.613, abs=0.01)
    # A layer keeps 6 x 4096 + 2 x 4096 + 2 x 1024 + 4 x 14336 = 92,160 numbers a token.
    kept = 2000 * 2 * 92_160 / 1e9
    assert memory.learner_activations == pytest.approx((32 * KEPT_MORE + BACK_MORE) * kept)
    # Recomputed: the inputs of 32 layers, and one layer at a time.
    again = reckon(set_up(replace(LLAMA, recompute=True, micro_tokens=1000)), browsers=64, context=2000)
    inputs = 2000 * 2 * 32 * 4096 / 1e9
    assert again.learner_activations == pytest.approx(inputs + (KEPT_MORE + BACK_MORE) * kept)
    assert memory.browsers == memory.host == pytest.approx(12.8)
    assert memory.too_small() == []


def test_an_adapter_needs_no_gradients_of_the_rest() -> None:
    def state(rank: int, reference: bool) -> float:
        return reckon(set_up(replace(SMALL, lora_rank=rank, reference=reference)), 1, 1).learner_state * 1e9

    # LoRA of rank 16 on seven linear layers: 16 x 30 x (2 x 1152 + 2 x 768 + 3 x 2112) = 4,884,480.
    assert find_model("smollm2").trained(16) == 4_884_480
    assert state(16, reference=True) == pytest.approx(4 * (134_515_008 + 4 * 4_884_480))
    assert state(0, reference=False) == pytest.approx(4 * 4 * 134_515_008)


def test_what_does_not_fit_is_said_with_a_way_out() -> None:
    def on_48_gb(context: int) -> Memory:
        # 300 rows on each of eight engines.
        return reckon(set_up(replace(LLAMA, device="l40s-48gb", gpus=16)), browsers=2400, context=context)

    memory = on_48_gb(1000)
    assert memory.most_micro_tokens is not None
    assert memory.learner_state + memory.most_micro_tokens * memory.learner_activations / 16_384 <= 0.9 * 48
    engine, learner = memory.too_small()
    assert engine.endswith("of 43 GB: fewer browsers an engine")
    assert learner.endswith(f"of 43 GB: at most {memory.most_micro_tokens} micro-tokens")
    _, learner = on_48_gb(8000).too_small()
    assert f"room for {memory.most_micro_tokens} tokens, a turn has 8000 (recompute, or LoRA)" in learner


# --- speeds ---------------------------------------------------------------------------------------------------------


def measured(tmp_path: Path, figures: dict[str, float], options: Options = SMALL) -> Options:
    """The options, with a file of what a bench printed."""
    (tmp_path / "here.jsonl").write_text(json.dumps(figures))
    return replace(options, measured=str(tmp_path / "here.jsonl"))


def test_measured_reading_and_drawing_are_told_apart(tmp_path: Path) -> None:
    costs = set_up(measured(tmp_path, ENGINE)).machine.engine
    # Reading: 512 tokens more take 512 ms more, so 1 ms a token and 44 ms whatever the length.
    assert (costs.token_s, costs.prompt_s) == pytest.approx((0.001, 0.044))
    # Drawing: 16 x 512 tokens more in sight take 81.92 ms more: 0.01 ms each. 15 rows more take 150 ms more, of which
    # 2.56 each are for what they see: 7.44 a row. The rest of the first row's 50: 50 - 7.44 - 2.56 = 40.
    assert (costs.context_s, costs.row_s) == pytest.approx((1e-5, 0.00744))
    assert costs.step_s == pytest.approx(0.040)
    assert (costs.cores, costs.max_rows) == (1.5, 0)


def test_a_larger_model_is_slower_in_proportion() -> None:
    small, large = (set_up(Options(model=name)).machine.engine for name in ("smollm2", "qwen2.5-0.5b"))
    ratio = find_model("qwen2.5-0.5b").body / find_model("smollm2").body
    assert large.token_s == pytest.approx(small.token_s * ratio)
    assert large.step_s > small.step_s


@pytest.mark.parametrize(
    ("rank", "reference", "recompute", "passed"),
    [
        *((16, False, False, 4), (16, True, False, 6), (0, False, False, 6), (0, True, False, 8)),
        *((16, False, True, 6), (16, True, True, 8), (0, False, True, 8), (0, True, True, 10)),
    ],
)
def test_an_update_costs_by_what_is_computed(
    tmp_path: Path, rank: int, reference: bool, recompute: bool, passed: int
) -> None:
    # An adapter: 4 operations a weight and token, measured. All parameters: 6. The reference: 2 more. Again: 2 more.
    options = replace(SMALL, lora_rank=rank, reference=reference, recompute=recompute)
    assert passes(options) == passed
    token_s = set_up(measured(tmp_path, {"tokens_comb": 1000, "s_comb": 4.0}, options)).token_s
    assert token_s == pytest.approx(0.001 * passed)


def test_new_weights_take_the_time_of_a_swap(tmp_path: Path) -> None:
    options = measured(tmp_path, ENGINE)
    assert set_up(options).push_s == pytest.approx(0.4)
    assert set_up(options, learns=False).push_s == 0


def test_what_was_no_work_in_a_browser_was_waiting(tmp_path: Path) -> None:
    browser = {
        "pocket_open_ms": 300.0,
        "pocket_open_core_ms": 200.0,
        "pocket_turn_ms": 90.0,
        "pocket_turn_core_ms": 100.0,  # on two cores at once
        "pocket_busy_cores": 1.6,
        "session_mb": 150.0,
    }
    setup = set_up(measured(tmp_path, browser, replace(SMALL, site_wait_s=2.0)))
    # Of the two cores of a worker 1.6 are busy at most: a second of work takes up 1.25.
    assert setup.machine.open == Work(pytest.approx(0.25), pytest.approx(2.1))  # type: ignore[arg-type]
    assert setup.machine.turn == Work(pytest.approx(0.125), 2.0)  # type: ignore[arg-type]
    assert setup.session_mb == pytest.approx(150 + 4.88)  # and a world of those that were measured here


def test_a_gpu_is_reckoned_by_its_data_sheet() -> None:
    setup, assumed = set_up(LLAMA), shipped()["assumed"]
    engine = setup.machine.engine
    # Two operations a weight: 2 x 6.98e9 / (312e12 x share).
    assert engine.token_s == pytest.approx(2 * 6.9796e9 / (312e12 * assumed["reading"]), rel=1e-4)
    # A token reads all weights that it passes, two bytes each: 2 x 7.505e9 / (2.04e12 x share), besides the overhead.
    step_s = assumed["step_s"] + 2 * 7.5049e9 / (2.04e12 * assumed["drawing"])
    assert engine.step_s == pytest.approx(step_s, rel=1e-4)
    assert engine.cores == 0
    # Six operations a weight, on four learners.
    assert setup.token_s == pytest.approx(6 * 6.9796e9 / (312e12 * assumed["learning"]) / 4, rel=1e-4)
    # Four bytes a weight, written once and read once.
    assert setup.push_s == pytest.approx(2 * 32.12e9 / assumed["push_bytes_per_s"], rel=1e-3)
    assert set_up(replace(LLAMA, lora_rank=16)).push_s < setup.push_s / 50


def test_lines_of_bench_fill_the_figures(tmp_path: Path) -> None:
    lines = tmp_path / "here.jsonl"
    lines.write_text(json.dumps(ENGINE | {"turns": 5}) + '\n\n{"tokens_comb": 10, "s_comb": 1.5, "page_tokens": 300}\n')
    assert read_measured(lines) == {"engine": ENGINE, "learn": {"tokens_comb": 10, "s_comb": 1.5}}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty: fill it with"),
        ("{", "line 1 is no line of `clickgrad bench"),
        ('{"tokens": 3}', "line 1 is no line of `clickgrad bench"),
        ('{"tokens_comb": 10, "s_comb": 1}\n[]', "line 2 is no line of"),
        ('{"tokens_comb": 10, "s_comb": 0}', "s_comb is 0, not a number above 0"),
        ('{"tokens_comb": 10, "s_comb": NaN}', "s_comb is nan"),
        ('{"tokens_comb": true, "s_comb": 1}', "tokens_comb is True"),
    ],
)
def test_what_is_no_line_of_bench_is_the_users_mistake(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "here.jsonl").write_text(text)
    with pytest.raises(UserError, match=said):
        read_measured(tmp_path / "here.jsonl")


# --- workloads ------------------------------------------------------------------------------------------------------


def test_a_made_up_workload_has_the_means_that_were_asked_for() -> None:
    workload = made_up(Options(groups=40, group_size=4, turns=9, page_tokens=1000, reply_tokens=50))
    turns = [turn for episodes in workload.rounds for episode in episodes for turn in episode]
    assert workload.most_episodes == 160
    assert len(turns) / 160 == pytest.approx(9, rel=0.02)
    assert sum(turn.reply for turn in turns) / len(turns) == pytest.approx(50, rel=0.02)


def test_a_turn_reads_its_page_and_what_was_said_before() -> None:
    options = Options(groups=1, group_size=1, turns=2, page_tokens=100, reply_tokens=10)
    workload = made_up(options)
    (((first, second),),) = workload.rounds
    # 250 tokens of system and task and the page are the group's; then the page, 16 for the one before, and the reply.
    assert (first.fresh, first.shared, first.context) == (0, 350, 350)
    assert (second.fresh, second.context) == (116 + first.reply, 366 + first.reply)
    assert (first.acts, second.acts) == (True, False)
    assert workload.trained_tokens == 350 + second.fresh + first.reply + second.reply
    # With a shorter system prompt and task, that of all prompts, and once of what is trained.
    short = made_up(options, head=90)
    assert [turn.context for turn in short.rounds[0][0]] == [190, 206 + first.reply]
    assert short.trained_tokens == workload.trained_tokens - 160


def test_refilled_groups_are_sampled_later_and_trained_instead() -> None:
    options = Options(groups=3, group_size=2, turns=4, page_tokens=100, reply_tokens=10)
    workload = made_up(replace(options, refills=1))
    assert [len(episodes) for episodes in workload.rounds] == [6, 2]
    assert workload.trained_tokens < made_up(replace(options, groups=4)).trained_tokens


def test_a_prompt_reads_only_what_none_before_it_had() -> None:
    assert unseen_tokens([(1, 2, 3), (1, 2, 4, 5), (1, 2, 3, 6), (1, 2), (7,)]) == [3, 2, 1, 0, 1]


def test_an_update_computes_common_beginnings_once() -> None:
    turns = [(1, 2, 4, 5), (1, 2, 3), (1, 2, 3)]
    assert comb_tokens(turns, micro_tokens=5) == 5  # 1 2 3, once, and 4 5 after 1 2
    assert comb_tokens(turns, micro_tokens=4) == 7  # nothing is shared across micro-batches
