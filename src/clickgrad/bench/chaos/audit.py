"""What must be true of a run's folder whatever happened to the run. Each finding is a line."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clickgrad.bench.chaos.files import (
    DEMOS,
    TRAJECTORIES,
    Stored,
    files_in,
    final_tries,
    read_bytes,
    read_stored,
)
from clickgrad.bench.chaos.scenes import HOSTILE

Call = Callable[[Sequence[str]], str]  # a command of the run's own version, undisturbed; what it printed
REPLAYS = 3  # a page that came out differently once may have been our own slow machine; three times it was not
TRAINED = ("clone/model/model.safetensors", "reinforce/model/model.safetensors")


@dataclass(slots=True)
class Ledger:
    """Episodes that were stored and that nobody damaged, by file; and the frames that we did damage."""

    run: Path
    known: dict[Path, set[tuple[str, float]]] = field(default_factory=lambda: defaultdict(set))
    damaged: dict[Path, list[Stored]] = field(default_factory=lambda: defaultdict(list))
    steps_damaged: set[object] = field(default_factory=set)  # whose rows of metrics may be anything

    def note(self) -> None:
        for path, stored in trajectories(self.run):
            spoilt = {one.identity for one in self.damaged[path]}
            self.known[path] |= {one.identity for one in stored} - spoilt

    def lost(self) -> list[str]:
        """Each is told once."""
        there = {path: {one.identity for one in stored} for path, stored in trajectories(self.run)}
        gone = [(path, one) for path, known in self.known.items() for one in sorted(known - there.get(path, set()))]
        for path, one in gone:
            self.known[path].discard(one)
        return [f"lost: {path.relative_to(self.run)}: {episode}" for path, (episode, _) in gone]

    def spoil(self, path: Path, before: Sequence[Stored], first: int, last: int) -> None:
        """Bytes from `first` up to `last` of the file as it was before are lost."""
        hit = [one for one in before if one.start < last and one.end > first]
        self.damaged[path] += hit
        self.known[path] -= {one.identity for one in hit}


def trajectories(run: Path) -> list[tuple[Path, list[Stored]]]:
    """Of all stages. Demonstrations are the same whoever records them, so nothing is lost with them."""
    return [(path, read_stored(path)) for path in files_in(run, TRAJECTORIES) if path.name != DEMOS]


# --- denominators ---------------------------------------------------------------------------------------------------


def wrong_denominators(run: Path, ledger: Ledger) -> list[str]:
    found = []
    for path, stored in trajectories(run):
        if path.stem.startswith("evaluate"):
            report = json.loads((path.parents[1] / "report.json").read_text())
            found += _wrong_report(path.relative_to(run), report["success"], stored)
    for row in objects(read_bytes(run / "reinforce" / "metrics.jsonl").decode(errors="replace")):
        if row.get("step") not in ledger.steps_damaged:
            found += _wrong_row(run, row, ledger)
    return found


def _wrong_report(where: Path, said: dict[str, Any], stored: list[Stored]) -> list[str]:
    final = final_tries(stored)
    rewards = [one.reward for one in final if one.reward is not None]
    crashed = sum(one.reward is None and one.record["end"] == "crashed" for one in final)
    true = {"n": len(rewards), "passed": sum(reward == 1.0 for reward in rewards), "infra_failed": crashed}
    return [
        f"denominator: {where}: {name} is {true[name]}, told as {said[name]}"
        for name in true
        if said[name] != true[name]
    ]


def _wrong_row(run: Path, row: dict[str, Any], ledger: Ledger) -> list[str]:
    path = run / "reinforce" / "trajectories" / f"step-{row['step']:04d}.jsonl.zst"
    by_name = {one.episode: one for one in read_stored(path)}
    stored = by_name.values()
    gone = len({one.episode for one in ledger.damaged[path]} - by_name.keys())  # they may have been there then
    crashed = sum(one.reward is None for one in stored)
    if not len(stored) <= row["episodes"] <= len(stored) + gone:
        return [f"denominator: step {row['step']}: {len(stored)} episodes, told as {row['episodes']}"]
    if not crashed <= row["crashed"] <= crashed + gone:
        return [f"denominator: step {row['step']}: {crashed} without a reward, told as {row['crashed']}"]
    return []


# --- rewards --------------------------------------------------------------------------------------------------------


def false_rewards(run: Path, replay_words: Sequence[str], call: Call, place: Path) -> list[str]:
    """Of crashed episodes, of verdicts that say otherwise, and those that the same actions do not earn again."""
    rewarded = [one for _, stored in trajectories(run) for one in stored if one.reward is not None]
    outcomes = {1.0: "passed", 0.0: "failed"}
    found = {
        one.episode: f"reward {one.reward} though the episode ended {one.record['end']}"
        f" and its verdict is {one.record['verdict']['outcome']}"
        for one in rewarded
        if one.record["end"] == "crashed" or outcomes.get(one.reward or 0.0) != one.record["verdict"]["outcome"]
    }
    for answer in objects(call(["rejudge", str(run), "--json"])):
        found |= {one["episode"]: f"judged {one['before']}, then {one['after']}" for one in answer["changed"]}
    found |= _diverging([one for one in rewarded if one.episode not in found], replay_words, call, place)
    return [f"false reward: {episode}: {why}" for episode, why in found.items()]


def _diverging(rewarded: list[Stored], words: Sequence[str], call: Call, place: Path) -> dict[str, str]:
    """Played again, a page or the world came out differently every time. A page that broke must break again."""
    # A hostile page that was lived through is the site's doing, and when played again the site is calm.
    left, found = [one for one in rewarded if not _lived_through(one)], dict[str, str]()
    for number in range(REPLAYS):
        if not left:
            return {}
        file = place / f"rewarded-{number}.jsonl.zst"
        file.write_bytes(b"".join(one.frame for one in left))
        rows = objects(call(["replay", str(file), "--json", *words]))
        differences = {row["episode"]: row["difference"] for row in rows}
        found = {}
        for one in left:
            difference = differences.get(one.episode, "it could not be played again")
            broken = one.record["end"] == "page_broken"
            if ("Error: " not in difference) if broken else difference:
                found[one.episode] = difference or "its page is said to be broken, and is not"
        left = [one for one in left if one.episode in found]
    return found


def _lived_through(one: Stored) -> bool:
    return one.record["end"] != "page_broken" and HOSTILE in json.dumps(one.record)


def objects(output: str) -> list[dict[str, Any]]:
    """The lines that are JSON objects, among whatever else was said."""
    found = []
    for line in output.splitlines():
        with suppress(ValueError):
            found += [json.loads(line)] if line.startswith("{") else []
    return found


# --- the same weights -----------------------------------------------------------------------------------------------


def undisturbed(run: Path, stormy: Path, ledger: Ledger) -> None:
    """Move the run aside and leave in its place only what was sampled: the same command computes the rest again."""
    run.rename(stormy)
    for path, stored in trajectories(stormy):
        place = run / path.relative_to(stormy)
        seconds = dict(one.identity for one in stored)
        # What we damaged was used as it had been, unless the episode was played again.
        before = [one for one in ledger.damaged[place] if seconds.get(one.episode, one.identity[1]) == one.identity[1]]
        kept = {one.episode: one for one in [*stored, *before]}
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"".join(one.frame for one in kept.values()))


def different_weights(run: Path, stormy: Path) -> list[str]:
    return [
        f"differs after resume: {name}"
        for name in TRAINED
        if not (run / name).exists() or (stormy / name).read_bytes() != (run / name).read_bytes()
    ]
