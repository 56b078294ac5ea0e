"""One scene under its share of the storm: sitting after sitting, fault after fault, and the audit afterwards."""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clickgrad.bench.chaos import audit as audit
from clickgrad.bench.chaos.faults import DAMAGE, DISK, LIVE, ORDERED, Disk
from clickgrad.bench.chaos.figures import ChaosFigures
from clickgrad.bench.chaos.files import damage, files_in, find_target, read_bytes, read_stored
from clickgrad.bench.chaos.life import Life, Nursery
from clickgrad.bench.chaos.scenes import Scene

LOOK_S = 0.1
HURRY = 0.7  # faults come a little faster than the episodes would need, so that all are in before the run ends
AT_ONCE = 4  # files damaged between two sittings
SETTLE_S = 1.0  # between a fault and what shows that it was survived
ORDER_S = 15.0  # to wait for an order to be taken
FULL_S = 8.0  # that a disk stays full when the run does not end by itself
STUCK = AT_ONCE + 2  # sittings in a row that got nowhere: every damaged file may end one
MOST_CROWDED = 4.0


@dataclass(frozen=True, slots=True)
class _Damaged:
    kind: str
    path: Path
    before: bytes


@dataclass(frozen=True, slots=True)
class Ground:
    """Where the scenes are played."""

    place: Path
    nursery: Nursery
    disk: Disk
    patience_s: float
    quiet: bool


class Storm:
    """One scene from its first sitting to its end."""

    def __init__(
        self, scene: Scene, faults: list[str], ground: Ground, rng: random.Random, figures: ChaosFigures
    ) -> None:
        self._scene, self._ground, self._rng, self._figures = scene, ground, rng, figures
        self._run = ground.place / "disk" / scene.name
        self._ledger = audit.Ledger(self._run)
        self._queue = list(faults)
        self._pace = HURRY * scene.episodes / max(1, len(faults))
        self._seen: set[object] = set()  # every episode and row of metrics that ever was
        self._injected_at = 0  # how many had been seen at the last fault
        self._quiet_until = 0.0
        self._pending: list[str] = []  # faults after which nothing has been seen yet
        self._damaged: list[_Damaged] = []  # before this sitting
        self._strike: str | None = None  # the damage that the run was killed for
        self._ordered: tuple[str, float] | None = None
        self._full_since: float | None = None
        self._sittings = self._faults = 0
        self._began = time.monotonic()

    # --- the storm ---

    def weather(self) -> bool:
        """Sitting after sitting until the run is done; False when it cannot go on."""
        stuck = 0
        while stuck < STUCK:
            before = len(self._seen), self._faults
            life = self._sit([*self._scene.words, "--run", str(self._run)])
            ours = self._attend(life)
            self._close(life)
            if life.code == 0:
                self._settle()
                return True
            if not ours:
                self._account(life)
            self._damage_files()
            stuck = 0 if before != (len(self._seen), self._faults) else stuck + 1
        self._figures.find("hangs", [f"hang: {self._scene.name}: {STUCK} sittings in a row got nowhere"])
        self._fail(self._pending)
        return False

    def _sit(self, words: Sequence[str]) -> Life:
        self._sittings += 1
        self._figures.sittings += 1
        log = self._ground.place / f"{self._scene.name}-{self._sittings:03d}.txt"
        return Life(self._ground.nursery, words, log)

    def _attend(self, life: Life) -> bool:
        """Until it ends. True: we killed it."""
        signs, beat, killed = -1, time.monotonic(), False
        while life.code is None:
            life.watch()
            self._look()
            now, before = time.monotonic(), signs
            signs = len(self._seen) + life.log.stat().st_size + len(files_in(self._run))
            if signs != before or life.asleep:
                beat = now
            elif now - beat > self._ground.patience_s * _crowd():
                self._figures.find(
                    "hangs", [f"hang: {self._scene.name}, after {', '.join(self._pending) or 'nothing'}"]
                )
                self._fail(self._pending)
                life.kill()
                return True
            killed = self._maybe_inject(life)
            if killed:
                return True
            time.sleep(LOOK_S)
        return killed

    def _look(self) -> None:
        for path in files_in(self._run, "metrics.jsonl"):
            self._seen |= {line for line in read_bytes(path).splitlines() if line.endswith(b"}")}
        for path, stored in audit.trajectories(self._run):
            self._seen |= {(path, one.identity) for one in stored}
        if time.monotonic() < self._quiet_until:  # what ends now was nearly done before the fault
            self._injected_at = len(self._seen)

    def _maybe_inject(self, life: Life) -> bool:
        """True: the run was killed for it."""
        if self._ordered is not None:
            self._await_order(life, ORDER_S)
        elif self._full_since is not None:
            if time.monotonic() - self._full_since > FULL_S:
                self._full_since = None
                self._ground.disk.empty(life)
        elif len(self._seen) > self._injected_at:
            kind = self._next(life)
            if kind is not None:
                return self._inject(kind, life)
        return False

    def _next(self, life: Life) -> str | None:
        """The first of the queue that can be had now. Demonstrations are not waited for: their time is short."""
        ready = [kind for kind in self._queue if kind not in DAMAGE or find_target(self._run, _what(kind))]
        hurried = next((kind for kind in ready if _what(kind) == "demos"), None)
        if hurried is not None:
            return hurried
        episodes = sum(isinstance(one, tuple) for one in self._seen)  # a resumed stage writes its rows again
        is_due = episodes >= self._faults * self._pace
        return ready[0] if ready and is_due else None

    def _inject(self, kind: str, life: Life) -> bool:
        if kind in ORDERED:
            self._queue.remove(kind)
            ORDERED[kind](life, self._rng)
            self._ordered = kind, time.monotonic()
            return False
        self._settle()  # whatever was before has been outlived: something was stored since
        if kind in DAMAGE:
            life.kill()
            self._strike = kind
            return True
        if kind == "run-kill":
            life.kill()
        elif kind == DISK:
            self._ground.disk.fill(life)
            self._full_since = time.monotonic()
        elif not LIVE[kind](life, self._rng):
            self._queue.remove(kind)
            self._queue.append(kind)  # nothing to strike at; later
            return False
        self._queue.remove(kind)
        self._note(kind)
        return kind == "run-kill"

    def _await_order(self, life: Life, patience_s: float) -> None:
        """It counts when it has been taken; what is not taken is tried again later."""
        if self._ordered is None:
            return
        kind, since = self._ordered
        if not (life.control / kind).exists():
            self._settle()
            self._note(kind)
            self._ordered = None
        elif time.monotonic() - since > patience_s:
            (life.control / kind).unlink(missing_ok=True)
            self._queue.append(kind)
            self._ordered = None

    def _damage_files(self) -> None:
        """Between two sittings: the file that was chosen and a few more, each once."""
        if self._strike is None:
            return
        first, self._strike, self._damaged = self._strike, None, []
        struck: set[Path] = set()
        for kind in [first, *(kind for kind in self._queue if kind in DAMAGE and kind != first)]:
            path = find_target(self._run, _what(kind))
            if path is None or path in struck or len(struck) == AT_ONCE:
                continue
            struck.add(path)
            before, stored = path.read_bytes(), read_stored(path)
            lost = damage(path, kind.rpartition("-")[2], self._rng)
            self._ledger.spoil(path, stored, *lost)
            if path.name == "metrics.jsonl":
                self._ledger.steps_damaged |= {
                    row.get("step") for row in audit.objects(before.decode(errors="replace"))
                }
            self._damaged.append(_Damaged(kind, path, before))
            self._queue.remove(kind)
            self._note(kind)

    # --- what became of the faults ---

    def _note(self, kind: str) -> None:
        self._faults += 1
        self._injected_at = len(self._seen)
        self._quiet_until = time.monotonic() + SETTLE_S
        self._figures.count(kind, "injected")
        self._pending.append(kind)
        self._say(kind)

    def _settle(self) -> None:
        for kind in self._pending:
            self._figures.count(kind, "survived")
        self._pending = []

    def _fail(self, kinds: Sequence[str]) -> None:
        self._pending = [kind for kind in self._pending if kind not in kinds]

    def _close(self, life: Life) -> None:
        """After a sitting: nothing may be left running, and nothing stored may be gone."""
        self._look()
        self._await_order(life, patience_s=0.0)
        self._full_since = None
        self._ground.disk.empty(life)
        self._figures.find("orphans", [f"orphan: {self._scene.name}: {one}" for one in life.orphans()])
        self._figures.find("lost_episodes", self._ledger.lost())
        self._ledger.note()

    def _account(self, life: Life) -> None:
        """It ended by itself, and not well: who is to blame, and how to go on as the user would."""
        said = life.last_words
        if DISK in self._pending and not life.broke:
            return  # it said so and ended, as it should
        named = [one for one in self._damaged if one.kind in self._pending and _names(life, one.path)]
        blamed = [one.kind for one in named] or list(self._pending)
        refused_well = {one.kind for one in named if _what(one.kind) == "config" and not life.broke}
        for kind in refused_well:
            self._figures.count(kind, "survived")
        why = f"{self._scene.name}: ended with {life.code} after {', '.join(blamed) or 'nothing'}: {said[:300]}"
        if set(blamed) - refused_well or not blamed:
            self._figures.findings.append(f"not survived: {why}")
        self._say(why)
        self._fail(blamed)
        for one in named:
            self._mend(one)
        if not named:  # nobody knows which: all of them from the backup
            for one in self._damaged:
                one.path.parent.mkdir(parents=True, exist_ok=True)
                one.path.write_bytes(one.before)

    def _mend(self, one: _Damaged) -> None:
        """As the message asks: a checkpoint is deleted, a file is moved away; options can only be written again."""
        if _what(one.kind) in ("weights", "optimizer", "progress"):
            shutil.rmtree(one.path.parent, ignore_errors=True)
        elif _what(one.kind) in ("config", "model"):
            one.path.write_bytes(one.before)
        else:
            one.path.unlink(missing_ok=True)

    # --- the audit ---

    def audit(self) -> None:
        figures = self._figures
        stored = [one for _, some in audit.trajectories(self._run) for one in some]
        figures.episodes += len(stored)
        figures.find("wrong_denominators", audit.wrong_denominators(self._run, self._ledger))
        words = self._scene.replay_words
        figures.find("false_rewards", audit.false_rewards(self._run, words, self._call, self._ground.place))
        if self._scene.trains:
            stormy = self._run.with_name("stormy")
            audit.undisturbed(self._run, stormy, self._ledger)
            self._call([*self._scene.words, "--run", str(self._run)])
            figures.find("differs_after_resume", audit.different_weights(self._run, stormy))

    def _call(self, words: Sequence[str]) -> str:
        """Undisturbed; bounded by the same patience."""
        life = self._sit(words)
        deadline = time.monotonic() + 5 * self._ground.patience_s * _crowd()
        while life.code is None and time.monotonic() < deadline:
            life.watch()
            time.sleep(LOOK_S)
        if life.code is None:
            self._figures.find("hangs", [f"hang: {self._scene.name}: {words[0]}, undisturbed"])
            life.kill()
        life.orphans()
        self._say(f"{words[0]} ended with {life.code}: {life.last_words[:100]}")
        return life.log.read_text(errors="replace")

    def _say(self, text: str) -> None:
        line = f"{time.monotonic() - self._began:6.1f} s  {self._scene.name}, sitting {self._sittings}: {text}"
        with open(self._ground.place / "journal.txt", "a") as journal:
            journal.write(line + "\n")
        if not self._ground.quiet:
            print(line, file=sys.stderr, flush=True)


def _what(kind: str) -> str:
    return kind.rpartition("-")[0]


def _crowd() -> float:
    """How much longer everything takes because others want the cores, too."""
    return min(MOST_CROWDED, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def _names(life: Life, path: Path) -> bool:
    """The file, or the folder that stands or falls with it."""
    text = life.log.read_text(errors="replace").replace("\n", " ")
    return str(path) in text or f"{path.parent} " in text
