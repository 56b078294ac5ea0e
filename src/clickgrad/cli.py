"""The command line. Heavy imports wait until the arguments are known; a user's mistake is one line and exit code 2."""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from clickgrad.bench.command import add_benches
from clickgrad.errors import ClickgradError, UserError, did_you_mean
from clickgrad.interrupts import end_listening, interrupted, listen, run
from clickgrad.live.options import add_server_options, add_show_options, read_show_options
from clickgrad.planning.options import add_plan_options, read_plan_options
from clickgrad.version import __version__

if TYPE_CHECKING:  # pydantic is too slow for --help
    from clickgrad.config import Config
    from clickgrad.policy.spec import PolicySpec
    from clickgrad.report.stats import Rate
    from clickgrad.report.studies import StudyReport

    Recipe = Callable[[Config, argparse.Namespace], Coroutine[Any, Any, str]]  # does the work; says what came of it

DONE, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130
TRAINING = ("train", "clone", "reinforce", "study start")
ONE_POLICY = ("reinforce", "evaluate", "run")  # which brings its own prompt format, if a run made it
NO_RUN_FOLDER = ("demos", "prove", "replay", "run", "record", "film")
EXTRAS = dict.fromkeys(("torch", "transformers", "peft", "safetensors", "gguf"), "torch") | {
    "httpx": "chat",
    "ray": "ray",
}
PRESETS = sorted(file.stem for file in (Path(__file__).parent / "presets").glob("*.toml"))
NO_PLACE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    listen()
    try:
        return int(options.run_command(options))
    except UserError as error:
        return _complain(str(error), MISTAKE)
    except ClickgradError as error:
        if interrupted():  # what was cut short may fail in its own way
            return _tell_interruption()
        return _complain(f"{type(error).__name__}: {error}", FAILED)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        return _complain(f"{error.name} is not installed: pip install 'clickgrad[{extra}]'", MISTAKE)
    except BrokenPipeError:
        # The reader of our output went away (`clickgrad tasks | head`): nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        if error.errno not in NO_PLACE:
            raise
        place = error.filename or "the run folder"
        return _complain(
            f"cannot write {place} ({error.strerror}): make room or permit writing, then run it again", MISTAKE
        )
    except KeyboardInterrupt:
        return _tell_interruption()


def _tell_interruption() -> int:
    end_listening()
    return _complain("interrupted; the same command goes on from here", INTERRUPTED)


def _complain(text: str, code: int) -> int:
    print(f"clickgrad: {text}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """A mistake is one line, with what was probably meant."""

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '([^']*)'|unrecognized arguments: (\S+)", message)
        near = did_you_mean((wrong[1] or wrong[2]).partition("=")[0], self._words()) if wrong else ""
        told = message.replace("argument COMMAND: invalid choice:", "there is no command")
        told = told.partition(" (choose from")[0] if near else told
        self.exit(MISTAKE, f"clickgrad: {told}{near}; `{self.prog} --help` says more\n")

    def _words(self) -> set[str]:
        """All that could have been meant: options and choices, those of the commands below included."""
        words = set(self._option_string_actions)
        for action in self._actions:
            words |= {str(choice) for choice in action.choices or ()}
            below = action.choices.values() if isinstance(action.choices, dict) else ()
            words |= {word for parser in below if isinstance(parser, _Parser) for word in parser._words()}
        return words


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="clickgrad", description="Multi-turn reinforcement learning of web agents, in a real browser."
    )
    parser.add_argument("--version", action="version", version=f"clickgrad {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(run_command=run)
        return command

    def add_recipe(name: str, recipe: Recipe, text: str) -> argparse.ArgumentParser:
        command = add(name, lambda options: _run_recipe(name, recipe, options), text)
        _add_recipe_options(command, name)
        return command

    add_recipe("train", _train, "demonstrations, cloning, reinforcement, with an evaluation around each")
    demos = add_recipe("demos", _demos, "record demonstrations by the scripted experts")
    demos.add_argument("--out", type=Path, required=True, metavar="FILE", help="trajectory file to write, *.jsonl.zst")
    clone = add_recipe("clone", _clone, "behaviour cloning on demonstrations")
    clone.add_argument("--demos", type=Path, metavar="FILE", help="demonstrations; recorded first when not given")
    reinforce = add_recipe("reinforce", _reinforce, "M-GRPO on live episodes")
    reinforce.add_argument("--start", metavar="MODEL", help="model or run folder to start from (default: model.path)")
    evaluate = add_recipe("evaluate", _evaluate, "success rate of a policy on a suite")
    evaluate.add_argument(
        "--policy",
        metavar="P",
        help="scripted:expert, scripted:noop, torch:<folder, hub id or smollm2>, vllm:<url>, chat:<model>, or a run "
        "folder (default: torch:<model.path>)",
    )
    evaluate.add_argument("--json", action="store_true", help="print the figures as one JSON object")

    prove = add_recipe("prove", _prove, "check tasks: experts pass, doing nothing and near misses fail")
    prove.add_argument(
        "--demos", type=Path, metavar="FILE", help="recorded demonstrations, in place of scripted experts"
    )
    prove.add_argument("--json", action="store_true", help="print the findings as one JSON object")
    replay = add_recipe("replay", _replay, "play stored trajectories again and compare every page")
    replay.add_argument("file", type=Path, metavar="FILE", help="trajectory file, *.jsonl.zst")
    replay.add_argument("--json", action="store_true", help="one JSON object a line")

    run = add_recipe("run", _run_goal, "one episode of a policy on any site, told live")
    run.add_argument("goal", help="what is to be done, in a sentence")
    run.add_argument("--url", required=True, help="where to start; only its host can be reached")
    run.add_argument("--policy", metavar="P", help="as for evaluate, or scripted:FILE with a reply a line")
    run.add_argument("--allow", action="append", default=[], metavar="HOST", help="another host; may be repeated")
    run.add_argument(
        "--out",
        type=Path,
        default=Path("runs/run/run.jsonl.zst"),
        metavar="FILE",
        help="trajectory file to append to (default: runs/run/run.jsonl.zst)",
    )

    watch = add_recipe("watch", _watch, "an agent at work on a task, live in your browser; or two side by side")
    watch.add_argument("task", nargs="?", metavar="TASK", help="id of a task (default: the first of the suite)")
    watch.add_argument("--policy", action="append", metavar="P", help="as for evaluate; a second one plays beside it")
    add_show_options(watch)
    record = add_recipe("record", _record, "do a task yourself, in your browser: the episode is a demonstration")
    record.add_argument("--task", metavar="T", help="id of a task (default: you choose on the page)")
    record.add_argument("--policy", metavar="P", help="beat the agent: this one does the same task beside you")
    record.add_argument(
        "--out",
        type=Path,
        default=Path("runs/record/demos.jsonl.zst"),
        metavar="FILE",
        help="trajectory file to append to (default: runs/record/demos.jsonl.zst)",
    )
    add_show_options(record)

    demo = add_recipe("demo", _demo, "a trained policy at work in your browser, without training anything")
    demo.add_argument("--policy", metavar="P", help="as for evaluate (default: the one that ships with clickgrad)")
    add_show_options(demo, suite=False)
    film = add_recipe("film", _film, "an animated picture of a stored episode, for a README or a talk")
    film.add_argument("file", type=Path, metavar="FILE", help="trajectory file, *.jsonl.zst")
    film.add_argument("--episode", metavar="E", help="name of an episode, or id of its task (default: the first)")
    film.add_argument("--out", type=Path, metavar="FILE", help="*.webp (default: in the run's folder, by its task)")

    compare = add("compare", _compare, "two evaluations against each other, task by task")
    compare.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="run folders A B; with A B A B … the pairs are pooled"
    )
    compare.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    rejudge = add("rejudge", _rejudge, "judge stored trajectories again, by today's checks")
    rejudge.add_argument("run", type=Path, metavar="RUN", help="run folder; the trajectories in it stay as they are")
    rejudge.add_argument("--json", action="store_true", help="print the findings as one JSON object")
    view = add("view", _view, "look at runs in your own browser")
    view.add_argument("run", type=Path, metavar="RUN", help="a run folder, or a folder of runs")
    add_server_options(view)

    text = "the paper's studies, with our numbers beside the paper's"
    _add_studies(commands.add_parser("study", help=text, description="T" + text[1:] + "."))

    tasks = add("tasks", _tasks, "list the tasks of a suite")
    tasks.add_argument("--suite", default="pocket", help="a suite, a JSON file of tasks, or a folder of your own")
    tasks.add_argument("--split", choices=("train", "test", "demo", "all"), default="all")
    tasks.add_argument("--site", help="only tasks on this site")
    tasks.add_argument("--template", help="only tasks of this template")
    tasks.add_argument("--show", metavar="ID", help="one task with its checks")
    tasks.add_argument("--json", action="store_true", help="one JSON object a line")
    text = "measure a part on this machine"
    add_benches(commands.add_parser("bench", help=text, description=text[0].upper() + text[1:] + "."))
    add_plan_options(add("plan", _plan, "what a run will take: seconds, memory, bottleneck, how many browsers"))
    serve = add("serve", _serve, "open the bundled sites in your own browser")
    serve.add_argument("--port", type=int, default=8080)
    options = add("options", _options, "every option with its default, its meaning and what the presets say")
    options.add_argument("section", nargs="?", metavar="SECTION", help="one section, or one option (default: all)")
    options.add_argument("--json", action="store_true", help="one JSON object a line")
    doctor = add("doctor", _doctor, "what this machine has, and what will work on it")
    doctor.add_argument("--json", action="store_true")
    return parser


def _add_recipe_options(command: argparse.ArgumentParser, name: str) -> None:
    if name not in NO_RUN_FOLDER:
        folder = "runs/quick" if name == "train" else f"runs/{name.replace(' ', '-')}"  # as `make train` has it
        command.add_argument(
            "--run", type=Path, default=Path(folder), metavar="DIR", help=f"run folder (default: {folder})"
        )
    command.add_argument("--config", metavar="F", help=f"a TOML file or a preset: {', '.join(PRESETS)}")
    command.add_argument("--set", action="append", default=[], metavar="a.b=v", help="set one option; may be repeated")
    command.add_argument("--dry-run", action="store_true", help="print the resolved plan and stop")


def _add_studies(study: argparse.ArgumentParser) -> None:
    studies = study.add_subparsers(title="studies", required=True, metavar="STUDY")

    def add(name: str, recipe: Recipe, text: str) -> argparse.ArgumentParser:
        command = studies.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.set_defaults(run_command=lambda options: _run_recipe(f"study {name}", recipe, options))
        _add_recipe_options(command, f"study {name}")
        return command

    add("start", _study_start, "RL from the base model, from plain cloning, from cloned long reasoning")
    for name, recipe, text in (
        ("format", _study_format, "thinking against non-thinking replies, prompting only"),
        ("turns", _study_turns, "success over the turn limit, from one rollout"),
        ("prompting", _study_prompting, "policies as they are, by site"),
    ):
        add(name, recipe, text).add_argument(
            "--policy",
            action="append",
            metavar="P",
            help="as for evaluate; may be repeated (default: torch:<model.path>)",
        )


def _run_recipe(name: str, recipe: Recipe, options: argparse.Namespace) -> int:
    from clickgrad.config import load_config

    preset = "quick" if name in ("train", "demo") else "study" if name.startswith("study ") else None
    config = load_config(options.config, options.set, name, default=preset)
    _refuse_silent_settings(config, options)
    if name in ONE_POLICY:
        from clickgrad.backends.agents import as_trained
        from clickgrad.policy.spec import TorchModel

        start = getattr(options, "start", None)
        config = as_trained(config, TorchModel.of(start) if start else _policy(config, options))
    if options.dry_run:
        from clickgrad.planning.dry_run import resolved

        print(resolved(config, name, getattr(options, "policy", None)), end="")
    elif int(os.environ.get("WORLD_SIZE", "1")) > 1:
        _run_on_ranks(name, lambda: print(run(recipe(config, options))))
    else:
        print(run(recipe(config, options)))
    return DONE


def _refuse_silent_settings(config: Config, options: argparse.Namespace) -> None:
    """What else was said may leave a setting without effect."""
    given = [setting.partition("=")[0].strip() for setting in options.set]
    policy, start = getattr(options, "policy", None), getattr(options, "start", None)
    if "model.path" in given and (policy or start):
        word = "--policy" if policy else "--start"
        raise UserError(f"--set model.path: {word} says already which model it is; leave one of the two out")
    asked = [*([policy] if isinstance(policy, str) else policy or ()), config.clone.remarks]
    setting = next((name for name in given if name.startswith("chat.")), None)
    if setting and not any(one.startswith("chat:") for one in asked):
        raise UserError(f"--set {setting}: no hosted model is asked here; name one, as --policy chat:<model>")


def _run_on_ranks(name: str, run_all: Callable[[], None]) -> NoReturn:
    """Under `torchrun`: rank 0 runs the recipe, the others learn with it."""
    if name not in TRAINING:
        raise UserError(f"`clickgrad {name}` trains nothing: start it without torchrun")
    from clickgrad.backends.learners import dismiss_ranks, follow_rank_0
    from clickgrad.learn.ranks import leave_ranks

    if os.environ.get("RANK") == "0":
        run_all()
        dismiss_ranks()
    else:
        follow_rank_0()
    leave_ranks()


def _policy(config: Config, options: argparse.Namespace) -> PolicySpec:
    """The one the user named, or the model of the options."""
    from clickgrad.policy.spec import TorchModel, parse_policy

    given = getattr(options, "policy", None)
    return parse_policy(given) if given else TorchModel.of(config.model.path)


def _policies(config: Config, options: argparse.Namespace) -> list[PolicySpec]:
    from clickgrad.policy.spec import TorchModel, parse_policy

    return [parse_policy(one) for one in options.policy or ()] or [TorchModel.of(config.model.path)]


async def _train(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.display import journey, say
    from clickgrad.planning.journey import closing_lines, opening_lines, reckon_stages
    from clickgrad.recipes.train import train

    stages = reckon_stages(config)
    say("\n".join(opening_lines(stages, options.run)))
    with journey(stages):
        report = await train(config, options.run)
    told = f"\nSuccess on held-out tasks\n{report.table()}\n\nreport: {options.run / 'report.html'}\n"
    told += "\n".join(closing_lines(options.run))
    return _measured(told, [evaluation.success for _, evaluation in report.evaluations])


async def _demos(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.demos import record_demos

    passed = await record_demos(config, options.out)
    turns = sum(len(demonstration.turns) for demonstration in passed)
    return f"{len(passed)} demonstrations with {turns} turns in {options.out}"


async def _clone(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.clone import clone

    return f"cloned model: {await clone(config, options.run, options.demos)}"


async def _reinforce(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.reinforce import reinforce

    return f"trained model: {await reinforce(config, options.start or config.model.path, options.run)}"


async def _evaluate(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.recipes.evaluate import evaluate

    report = await evaluate(config, _policy(config, options), options.run, quiet=options.json)
    told = json.dumps(report.plain()) if options.json else f"{report.text()}\n\nreport: {options.run / 'report.html'}"
    return _measured(told, [report.success])


def _measured(told: str, rates: Sequence[Rate]) -> str:
    """What was told is an answer only if something was measured."""
    empty = next((rate for rate in rates if not rate.n), None)
    if empty:
        print(told)
        raise ClickgradError(f"nothing was measured: {empty.lost or 'no episode'}")
    return told


async def _study_start(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.start import study_start

    return _told(await study_start(config, options.run), options)


async def _study_format(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.format import study_format

    return _told(await study_format(config, _policies(config, options), options.run), options)


async def _study_turns(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.turns import study_turns

    return _told(await study_turns(config, _policies(config, options), options.run), options)


async def _study_prompting(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.studies.prompting import study_prompting

    return _told(await study_prompting(config, _policies(config, options), options.run), options)


def _told(report: StudyReport, options: argparse.Namespace) -> str:
    told = f"\n{report.text()}\n\nreport: {options.run / 'report.html'}"
    if report.unmeasured:
        print(told)
        raise ClickgradError(f"nothing was measured in {report.unmeasured} of the evaluations")
    return told


async def _prove(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.tools.prove import prove

    proof = await prove(config, options.json, options.demos)
    if options.json:
        text = json.dumps(proof.plain())
    else:
        loose = [f"  no check looks at  {column}" for column in proof.loose]
        text = "\n".join([*loose, *proof.faults, proof.headline])
    if proof.faults:
        print(text)
        raise ClickgradError(f"{len(proof.faults)} faults in {proof.tasks} tasks")
    return text


async def _replay(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.tools.replay import replay

    replayed = await replay(config, options.file, quiet=options.json)
    different = [one for one in replayed if one.difference]
    if options.json:
        text = "\n".join(json.dumps({"episode": one.episode, "difference": one.difference}) for one in replayed)
    else:
        same = f"{len(replayed) - len(different)} of {len(replayed)} trajectories came out identical"
        text = "\n".join([*(f"{one.episode}: {one.difference}" for one in different), same])
    if different:
        print(text)
        raise ClickgradError(f"{len(different)} of {len(replayed)} trajectories came out differently")
    return text


async def _run_goal(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.tools.run_goal import run_goal

    policy = _policy(config, options)
    trajectory = await run_goal(config, options.goal, options.url, policy, options.allow, options.out)
    kept = f"{len(trajectory.turns)} turns in {options.out}"
    if trajectory.end != "stopped":
        raise ClickgradError(f"ended by {trajectory.end}: {trajectory.error or 'the agent did not stop'}; {kept}")
    return f"the agent stopped with {trajectory.answer!r}; {kept}"


async def _watch(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.live.showing import told
    from clickgrad.live.watch import watch

    policies = _policies(config, options)
    return told(*await watch(config, options.task, policies, options.run, read_show_options(options)))


async def _record(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.live.record import record
    from clickgrad.live.showing import told
    from clickgrad.policy.spec import parse_policy

    rival = parse_policy(options.policy) if options.policy else None
    return told(*await record(config, options.task, rival, options.out, read_show_options(options)))


async def _demo(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.live.demo import demo, demo_policy
    from clickgrad.live.showing import told

    return told(*await demo(config, demo_policy(options.policy), options.run, read_show_options(options)))


async def _film(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.live.film import film

    written = await film(config, options.file, options.episode, options.out)
    return f"{written} ({written.stat().st_size / 1000:.0f} kB)"


def _compare(options: argparse.Namespace) -> int:
    from clickgrad.tools.compare import compare_pairs

    comparison = compare_pairs(options.runs)
    print(json.dumps(comparison.plain()) if options.json else comparison.text())
    return DONE


def _rejudge(options: argparse.Namespace) -> int:
    from clickgrad.tools.rejudge import rejudge

    findings = rejudge(options.run)
    print(json.dumps(findings.plain()) if options.json else findings.text())
    return DONE


def _view(options: argparse.Namespace) -> int:
    from clickgrad.config import load_config
    from clickgrad.live.drawing import Drawer
    from clickgrad.report.viewer.server import Extras, view

    extras = Extras(Drawer(load_config(None, [], "replay")).draw)
    view(options.run, options.host, options.port, extras, not options.no_open)
    return DONE


def _plan(options: argparse.Namespace) -> int:
    from clickgrad.planning.plan import make_plan
    from clickgrad.planning.telling import told

    plan = make_plan(read_plan_options(options))
    print(json.dumps(plan.figures) if options.json else told(plan))
    return DONE


def _tasks(options: argparse.Namespace) -> int:
    from clickgrad.codec import to_plain
    from clickgrad.tasks.suites import load_tasks

    shown = ("id", "suite", "split", "sites", "template", "intent", "expert_turns", "checks")
    tasks = [
        task
        for task in load_tasks(options.suite, options.split)
        if options.site in (None, *task.sites)
        and options.template in (None, task.template)
        and options.show in (None, task.id)
    ]
    if not tasks:
        raise UserError(f"no task of {options.suite} fits: `clickgrad tasks --suite {options.suite}` lists them all")
    for task in tasks:
        plain = to_plain(task)
        if options.json:
            print(json.dumps({name: plain[name] for name in shown}))
        elif options.show:
            print(json.dumps(plain, indent=2))
        else:
            print(f"{task.id:<36} {task.split:<6} {task.expert_turns or '?':>2} turns  {task.intent}")
    return DONE


def _serve(options: argparse.Namespace) -> int:
    import threading

    from clickgrad.worlds.arena import Arena

    with Arena(port=options.port, default_world=True) as arena:
        port = next(iter(arena.hosts.values())).rpartition(":")[2]
        print(f"http://localhost:{port}/")
        print("Ctrl-C ends it; nothing you do there is kept.", flush=True)
        threading.Event().wait()
    return DONE


def _options(options: argparse.Namespace) -> int:
    from clickgrad.tools.options import list_options, told

    found = list_options(options.section)
    print("\n".join(json.dumps(one.plain()) for one in found) if options.json else told(found))
    return DONE


def _doctor(options: argparse.Namespace) -> int:
    from clickgrad.tools.doctor import examine

    findings = examine()
    if options.json:
        print(json.dumps(findings.plain()))
    else:
        print(findings.text())
    return DONE if findings.can_train else FAILED
