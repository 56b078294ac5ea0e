"""FSDP2 in two and four processes (gloo, CPU) learns what one process learns."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
import transformers
from commands import call
from in_parts import learner_in_parts, teach
from sharded_step import OPTIONS, new_learner, train, weights
from tiny import make_trajectory, make_turn, save, tiny_model, tiny_tokenizer

from clickgrad.cli import main
from clickgrad.codec import to_plain
from clickgrad.errors import UserError
from clickgrad.learn.checkpoint import find_fault, moments, step_folder
from clickgrad.learn.progress import Progress
from clickgrad.learn.ranks import ALONE, Ranks
from clickgrad.policy.models import LoadedModel, load_model
from clickgrad.report.metrics import Metrics
from clickgrad.rollout.store import TrajectoryFile
from clickgrad.types import Sample

SUPPORT = Path(__file__).parents[1] / "support"


def make_samples(count: int) -> list[Sample]:
    rng = random.Random(3)
    samples = []
    for index in range(count):
        ids = tuple(rng.randrange(1, 60) for _ in range(rng.randrange(12, 30)))
        logprobs = tuple(-3 - rng.random() for _ in range(4))
        samples.append(Sample((1, 2, 3, *ids), 4, logprobs, 1.0 if index % 3 else -1.0, 1 / count))
    return samples


def test_the_example_of_the_docstring() -> None:
    assert Ranks(0, 2).share("abc") == [(0, "a", 2.0), (2, "c", 2.0)]
    assert Ranks(1, 2).share("abc") == [(1, "b", 2.0), (3, "a", 0.0)]
    assert ALONE.share("abc") == [(0, "a", 1.0), (1, "b", 1.0), (2, "c", 1.0)]


CASES = {  # turns, the rank of the adapter, whether the two processes compute layers again instead of keeping them
    "full": (9, 0, False),
    "adapter": (9, 4, False),
    "fewer than processes": (1, 0, False),
    "full, recomputed": (9, 0, True),
    "adapter, recomputed": (9, 4, True),
}


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes made of each case, in a folder of its name."""
    folder = tmp_path_factory.mktemp("together")
    cases = {
        name: {"lora_rank": rank, "recompute": again, "samples": [to_plain(sample) for sample in make_samples(count)]}
        for name, (count, rank, again) in CASES.items()
    }
    (folder / "cases.json").write_text(json.dumps(cases))
    run_in_two([str(SUPPORT / "sharded_step.py"), str(folder)])
    return folder


@pytest.mark.parametrize("case", CASES)
def test_two_processes_equal_one(tmp_path: Path, together: Path, case: str) -> None:
    count, lora_rank, _ = CASES[case]
    samples, target = make_samples(count), together / case
    result = torch.load(target / "result.pt")

    learner = new_learner(lora_rank, ALONE)
    alone = train(learner, samples, tmp_path / "alone")
    for one, other in zip(alone["figures"], result["figures"], strict=True):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-6)
    assert result["loss"] == pytest.approx(alone["loss"], rel=1e-4)
    assert result["values"] == pytest.approx(alone["values"], rel=1e-3)
    assert_close(result["trained"], alone["trained"])
    for name, value in result["trained"].items():  # to the bit: going on from a checkpoint is going on
        assert torch.equal(result["resumed"][name], value), name

    learner.load(target / "step-0002")  # what several wrote, one process can go on from
    learner.update(samples, OPTIONS)
    assert_close(weights(learner), result["trained"])
    exported = load_model(str(target / "exported"))
    assert_close(dict(exported.model.named_parameters()), result["trained"])
    pushed = "adapter_model.safetensors" if lora_rank else "model.safetensors"
    assert (target / "pushed" / pushed).stat().st_size == (tmp_path / "alone" / "pushed" / pushed).stat().st_size


def test_a_rank_ends_without_the_teardown_in_which_gloo_aborts(together: Path) -> None:
    assert not (together / "teardown").exists()


# --- no rank holds all of it ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What four processes learned and saved, and two loaded and saved again."""
    folder = tmp_path_factory.mktemp("parts")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=300,
        hidden_size=96,
        intermediate_size=240,
        num_hidden_layers=6,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        tie_word_embeddings=True,
    )
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    save(LoadedModel("small", model, tiny_tokenizer(["some text"])), folder / "model")
    (folder / "samples.json").write_text(json.dumps([to_plain(sample) for sample in make_samples(9)]))
    run_in([str(SUPPORT / "in_parts.py"), str(folder), "teach"], 4)
    run_in([str(SUPPORT / "in_parts.py"), str(folder), "load"], 2)
    return folder


def test_four_processes_that_read_parts_learn_what_one_learns(in_parts: Path) -> None:
    alone = learner_in_parts(in_parts / "model", ALONE)
    losses = teach(alone, make_samples(9))
    assert json.loads((in_parts / "losses.json").read_text()) == pytest.approx(losses, rel=1e-4)
    exported = load_model(str(in_parts / "exported-teach"))
    assert_close(dict(exported.model.named_parameters()), dict(alone.model.named_parameters()))


def test_a_checkpoint_of_four_loads_in_one_and_in_two_bit_for_bit(in_parts: Path) -> None:
    one, two = (learner_in_parts(in_parts / "model", ALONE) for _ in range(2))
    for learner, name in ((one, "four"), (two, "two")):
        assert learner.load(step_folder(in_parts / name, 1)) == Progress(step=1)
    trained = load_model(str(in_parts / "exported-teach")).model.state_dict()
    for name, value in one.model.state_dict().items():
        assert torch.equal(value, trained[name]), name
        assert torch.equal(value, two.model.state_dict()[name]), name
    kept, other = moments(one.optimizer), moments(two.optimizer)
    assert kept.keys() == other.keys()
    assert len(kept) == 3 * len(list(one.model.parameters()))
    assert all(torch.equal(value, other[name]) for name, value in kept.items())
    assert any(value.abs().max() > 0 for name, value in kept.items() if "exp_avg" in name)
    one.save(in_parts / "one", Progress(step=1), 1, None)  # whole, as one process writes it
    again = learner_in_parts(in_parts / "model", ALONE)
    again.load(step_folder(in_parts / "one", 1))
    assert all(torch.equal(value, kept[name]) for name, value in moments(again.optimizer).items())


def test_what_four_and_two_ranks_save_beside_their_training_is_the_same_to_the_bit(in_parts: Path) -> None:
    """By what the files hold: torch gives each of them a number of its own."""
    for name, ranks in (("beside-four", 4), ("beside-two", 2)):
        assert not find_fault(step_folder(in_parts / name, 1))
        assert len(list(step_folder(in_parts / name, 1).glob("__*"))) == ranks
    held = []
    for name, step in (("four", 1), ("beside-four", 1), ("beside-two", 1), ("beside-four", 2)):
        learner = learner_in_parts(in_parts / "model", ALONE)
        assert learner.load(step_folder(in_parts / name, step)) == Progress(step=step)
        held.append({**learner.model.state_dict(), **moments(learner.optimizer)})
    for name, value in held[0].items():
        assert torch.equal(value, held[1][name]), name
        assert torch.equal(value, held[2][name]), name
    assert any(not torch.equal(value, held[3][name]) for name, value in held[0].items()), "training went on"


def test_what_the_first_of_four_and_of_two_ranks_sends_to_servers_are_all_weights_of_one(in_parts: Path) -> None:
    trained = dict(load_model(str(in_parts / "exported-teach")).model.named_parameters())
    for name in ("beside-four", "beside-two"):
        sent = torch.load(in_parts / f"{name}.pt")
        assert sent.keys() == trained.keys()
        assert all(torch.equal(whole, trained[key]) for key, whole in sent.items())


def test_no_rank_ever_holds_a_whole_set_of_parameters(in_parts: Path) -> None:
    model = load_model(str(in_parts / "model")).model
    whole = sum(one.nbytes for one in model.parameters())
    widest = max(one.nbytes for one in model.parameters())
    for task, size in (("teach", 4), ("load", 2)):
        for rank in range(size):
            seen = json.loads((in_parts / f"live-{task}-{rank}.json").read_text())
            print(task, rank, {name: f"{value / whole:.2f}" for name, value in seen.items()}, "of all parameters")
            # The policy and the start policy, a part of each, and a little while they are read.
            assert seen["loading"] < 2 * whole / size + 2 * widest
            assert seen["largest"] < whole / 2


def test_layers_round_and_weights_do_not(in_parts: Path) -> None:
    losses, _, (held, start) = json.loads((in_parts / "rounded-teach.json").read_text())
    assert losses == pytest.approx(json.loads((in_parts / "losses.json").read_text()), abs=0.05)
    assert losses != json.loads((in_parts / "losses.json").read_text())
    assert (held, start) == ("torch.float32", "torch.bfloat16")


def test_a_part_that_was_changed_is_found(in_parts: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(in_parts / "four", tmp_path / "four"))
    assert not find_fault(step_folder(folder, 1))
    part = next(step_folder(folder, 1).glob("__2_*"))
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    assert find_fault(step_folder(folder, 1)) == f"{part.name} is not what was written"
    with pytest.raises(UserError, match="delete it to go on from the one before"):
        learner_in_parts(in_parts / "model", ALONE).load(step_folder(folder, 1))


def test_a_recipe_under_torchrun_learns_what_one_process_learns(tmp_path: Path) -> None:
    model = save(tiny_model(tiny_tokenizer(["Task: Choose. a line exit yes no maybe"])), tmp_path / "tiny")
    replies = [f'exit(message="{word}")' for word in ("yes", "no", "maybe", "later", "never")]
    demos = [make_trajectory([make_turn((), (), text=reply)], 1.0, episode=reply) for reply in replies]
    TrajectoryFile(tmp_path / "demos.jsonl.zst").extend(demos)
    settings = [f"model.path={model}", "lora.rank=4", "clone.batch=2", "clone.epochs=2", "clone.held_out=0.2"]
    words = ["clone", "--demos", str(tmp_path / "demos.jsonl.zst")]
    words += [word for setting in settings for word in ("--set", setting)]
    beside = ["--set", "learner.save_async=true"]  # which changes nothing but when files are written
    run_in_two(["-m", "--", "clickgrad", *words, *beside, "--run", str(tmp_path / "two")])
    done = call([*words, "--run", str(tmp_path / "one")], tmp_path)
    assert done.returncode == 0, done.stderr
    one, two = (load_model(str(tmp_path / name / "model")).model for name in ("one", "two"))
    assert_close(dict(two.named_parameters()), dict(one.named_parameters()))
    rows = [Metrics(tmp_path / name / "metrics.jsonl").read() for name in ("one", "two")]
    assert len(rows[0]) == len(rows[1]) > 2
    for mine, other in zip(*rows, strict=True):
        assert other["loss"] == pytest.approx(mine["loss"], rel=1e-4)
    for mine, other in zip(*([row for row in one if row["held_out_loss"]] for one in rows), strict=True):
        assert other["held_out_loss"] == pytest.approx(mine["held_out_loss"], rel=1e-4)


def test_a_command_that_trains_nothing_refuses_torchrun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["prove"]) == 2
    assert "`clickgrad prove` trains nothing: start it without torchrun" in capsys.readouterr().err


def assert_close(ours: dict[str, torch.Tensor], others: dict[str, torch.Tensor]) -> None:
    assert ours.keys() == others.keys()
    for name, value in ours.items():
        torch.testing.assert_close(value, others[name], rtol=0, atol=2e-5)


def run_in_two(arguments: Sequence[str]) -> None:
    run_in(arguments, 2)


def run_in(arguments: Sequence[str], processes: int) -> None:
    many = f"--nproc-per-node={processes}"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", many, *arguments]
    path = os.pathsep.join(filter(None, (str(SUPPORT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=540)
    assert done.returncode == 0, done.stderr
