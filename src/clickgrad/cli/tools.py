"""What stands beside the loops: looking at tasks, runs, sites and this machine."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from clickgrad.cli.declaring import DONE, FAILED, JSON, command, option, policy_of, recipe
from clickgrad.errors import ClickgradError, UserError
from clickgrad.planning.options import add_plan_options, read_plan_options

if TYPE_CHECKING:  # pydantic is too slow for --help
    from clickgrad.config import Config

JSON_FINDINGS = option("--json", action="store_true", help="print the findings as one JSON object")
JSON_LINES = option("--json", action="store_true", help="one JSON object a line")


@recipe(
    "prove",
    "check tasks: experts pass, doing nothing and near misses fail",
    option("--demos", type=Path, metavar="FILE", help="recorded demonstrations, in place of scripted experts"),
    JSON_FINDINGS,
    run_folder=False,
)
async def prove(config: Config, options: argparse.Namespace) -> str:
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


@recipe(
    "replay",
    "play stored trajectories again and compare every page",
    option("file", type=Path, metavar="FILE", help="trajectory file, *.jsonl.zst"),
    JSON_LINES,
    run_folder=False,
)
async def replay(config: Config, options: argparse.Namespace) -> str:
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


@recipe(
    "run",
    "one episode of a policy on any site, told live",
    option("goal", help="what is to be done, in a sentence"),
    option("--url", required=True, help="where to start; only its host can be reached"),
    option("--policy", metavar="P", help="as for evaluate, or scripted:FILE with a reply a line"),
    option("--allow", action="append", default=[], metavar="HOST", help="another host; may be repeated"),
    option(
        "--out",
        type=Path,
        default=Path("runs/run/run.jsonl.zst"),
        metavar="FILE",
        help="trajectory file to append to (default: runs/run/run.jsonl.zst)",
    ),
    run_folder=False,
    one_policy=True,
)
async def run(config: Config, options: argparse.Namespace) -> str:
    from clickgrad.tools.run_goal import run_goal

    policy = policy_of(config, options)
    trajectory = await run_goal(config, options.goal, options.url, policy, options.allow, options.out)
    kept = f"{len(trajectory.turns)} turns in {options.out}"
    if trajectory.end != "stopped":
        raise ClickgradError(f"ended by {trajectory.end}: {trajectory.error or 'the agent did not stop'}; {kept}")
    return f"the agent stopped with {trajectory.answer!r}; {kept}"


@command(
    "compare",
    "two evaluations against each other, task by task",
    option("runs", type=Path, nargs="+", metavar="RUN", help="run folders A B; with A B A B … the pairs are pooled"),
    JSON,
)
def compare(options: argparse.Namespace) -> int:
    from clickgrad.tools.compare import compare_pairs

    comparison = compare_pairs(options.runs)
    print(json.dumps(comparison.plain()) if options.json else comparison.text())
    return DONE


@command(
    "rejudge",
    "judge stored trajectories again, by today's checks",
    option("run", type=Path, metavar="RUN", help="run folder; the trajectories in it stay as they are"),
    JSON_FINDINGS,
)
def rejudge(options: argparse.Namespace) -> int:
    from clickgrad.tools.rejudge import rejudge

    findings = rejudge(options.run)
    print(json.dumps(findings.plain()) if options.json else findings.text())
    return DONE


@command(
    "tasks",
    "list the tasks of a suite",
    option("--suite", default="pocket", help="a suite, a JSON file of tasks, or a folder of your own"),
    option("--split", choices=("train", "test", "demo", "all"), default="all"),
    option("--site", help="only tasks on this site"),
    option("--template", help="only tasks of this template"),
    option("--show", metavar="ID", help="one task with its checks"),
    JSON_LINES,
)
def tasks(options: argparse.Namespace) -> int:
    from clickgrad.codec import to_plain
    from clickgrad.tasks.suites import load_tasks

    shown = ("id", "suite", "split", "sites", "template", "intent", "expert_turns", "checks")
    found = [
        task
        for task in load_tasks(options.suite, options.split)
        if options.site in (None, *task.sites)
        and options.template in (None, task.template)
        and options.show in (None, task.id)
    ]
    if not found:
        raise UserError(f"no task of {options.suite} fits: `clickgrad tasks --suite {options.suite}` lists them all")
    for task in found:
        plain = to_plain(task)
        if options.json:
            print(json.dumps({name: plain[name] for name in shown}))
        elif options.show:
            print(json.dumps(plain, indent=2))
        else:
            print(f"{task.id:<36} {task.split:<6} {task.expert_turns or '?':>2} turns  {task.intent}")
    return DONE


@command("plan", "what a run will take: seconds, memory, bottleneck, how many browsers", add_plan_options)
def plan(options: argparse.Namespace) -> int:
    from clickgrad.planning.plan import make_plan
    from clickgrad.planning.text import as_text

    made = make_plan(read_plan_options(options))
    print(json.dumps(made.figures) if options.json else as_text(made))
    return DONE


@command("serve", "open the bundled sites in your own browser", option("--port", type=int, default=8080))
def serve(options: argparse.Namespace) -> int:
    import threading

    from clickgrad.worlds.arena import Arena

    with Arena(port=options.port, default_world=True) as arena:
        port = next(iter(arena.hosts.values())).rpartition(":")[2]
        print(f"http://localhost:{port}/")
        print("Ctrl-C ends it; nothing you do there is kept.", flush=True)
        threading.Event().wait()
    return DONE


@command(
    "options",
    "every option with its default, its meaning and what the presets say",
    option("section", nargs="?", metavar="SECTION", help="one section, or one option (default: all)"),
    JSON_LINES,
)
def options(options: argparse.Namespace) -> int:
    from clickgrad.tools.options import as_text, list_options

    found = list_options(options.section)
    print("\n".join(json.dumps(one.plain()) for one in found) if options.json else as_text(found))
    return DONE


@command(
    "doctor",
    "what this machine has, and what will work on it",
    option("--json", action="store_true"),
    option("--gpu", action="store_true", help="for training on GPUs: driver, torch, NCCL, vLLM, memory, disk"),
    option("--smoke", action="store_true", help="with --gpu: a tiny model takes one step, on all GPUs or on the CPU"),
)
def doctor(options: argparse.Namespace) -> int:
    from clickgrad.tools.doctor import examine

    if options.smoke and not options.gpu:
        raise UserError("--smoke goes with --gpu: clickgrad doctor --gpu --smoke")
    if options.gpu:
        return _doctor_for_gpus(options)
    findings = examine()
    print(json.dumps(findings.plain()) if options.json else findings.text())
    return DONE if findings.can_train else FAILED


def _doctor_for_gpus(options: argparse.Namespace) -> int:
    from clickgrad.tools.gpu_doctor import examine_gpus

    findings = examine_gpus(Path.cwd())
    if options.smoke and not findings.problems:
        from clickgrad.bench.smoke import smoke

        try:
            findings.smoke = smoke()
        except ClickgradError as error:
            findings.problems.append(str(error))
    print(json.dumps(findings.plain()) if options.json else findings.text())
    return FAILED if findings.problems else DONE


@command(
    "init",
    "a folder for a site of your own, with comments",
    option("folder", type=Path, metavar="DIR", help="where to write it"),
    option("--url", default="", help="where the site runs already"),
    option("--start", default="", metavar="CMD", help="or the command that starts it, with {port}"),
)
def init(options: argparse.Namespace) -> int:
    from clickgrad.tools.init_site import init_site

    for file in init_site(options.folder, options.url, options.start):
        print(file)
    print(f"Fill them in, then: clickgrad prove --set tasks.suite={options.folder} --set evaluate.split=all")
    return DONE
