"""The rollout as a discrete-event simulation: episodes, browsers, processor cores, engines. Pure, no chance.

A browser is a process that plays episode after episode: it opens a session, then asks its engine and acts, turn by
turn. Engines batch continuously: the prompts of those who wait are read (prefill) at the next border between tokens,
then all rows draw together. Work on processor cores shares them evenly: with more work than cores everybody slows down
alike, an engine that computes on the cores included.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf

# Tokens that the simulated engine draws before it looks for newcomers; a real one looks at every token. Where the next
# row ends only much later, a share of the way there: long replies take no more events than short ones.
AT_ONCE, SHARE = 4, 1 / 16


@dataclass(frozen=True, slots=True)
class TurnLoad:
    fresh: int  # prompt tokens that no prompt before had
    context: int  # all prompt tokens
    reply: int
    acts: bool = True  # False where the reply ends the episode or is no action
    shared: int = 0  # prompt tokens that a group has in common: an engine reads them for the first member that asks
    group: str = ""


EpisodeLoad = tuple[TurnLoad, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """In a browser: on a core, and merely waiting (a site's answer, a page that settles)."""

    core_s: float
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class EngineCosts:
    """Seconds, when nobody competes for the cores."""

    prompt_s: float = 0.0  # of every prompt, however long
    token_s: float = 0.0  # of a prompt token to compute
    pair_s: float = 0.0  # of a prompt token to compute and a token that it sees
    step_s: float = 0.0  # of a token for all rows, however many
    row_s: float = 0.0  # more for every row
    context_s: float = 0.0  # more for every token that the rows see
    max_rows: int = 256  # 0: one for every browser
    cores: float = 0.0  # of the host, that it computes on; 0: it has a device of its own


@dataclass(frozen=True, slots=True)
class Machine:
    engines: int  # 0: replies take no time, as those of scripts
    engine: EngineCosts
    open: Work  # a session until its first page is seen, with judging and closing
    turn: Work  # an action until the next page is seen
    cores: float


@dataclass(slots=True)
class Rollout:
    """What a simulation came to."""

    seconds: float = 0.0
    turns: int = 0
    read_tokens: int = 0  # prompt tokens computed
    reply_tokens: int = 0
    policy_s: float = 0.0  # that episodes waited for replies, added up
    browser_s: float = 0.0  # that their turns took in the browsers, added up; opening is not counted
    reading_s: float = 0.0  # of all engines
    drawing_s: float = 0.0
    engine_busy: float = 0.0  # share of the time, mean of the engines
    cores_busy: float = 0.0


Then = Callable[[], None]
Process = Iterator[Callable[[Then], None]]  # yields what it waits for: a call that is told how to go on afterwards


def simulate(rounds: Sequence[Sequence[EpisodeLoad]], machine: Machine, browsers: int) -> Rollout:
    """`browsers` sessions at once. A round begins when the one before has ended, as refilled groups and steps do."""
    clock, rollout = _Clock(machine.cores), Rollout()
    engines = [_Engine(machine.engine, browsers, clock, rollout) for _ in range(machine.engines)]
    for episodes in rounds:
        coming = iter(episodes)
        for _ in range(min(browsers, len(episodes))):
            _go_on(_browser(coming, machine, engines, clock, rollout))
        clock.run()
    rollout.seconds = clock.now
    rollout.engine_busy = sum(engine.busy_s for engine in engines) / max(clock.now * len(engines), 1e-9)
    rollout.cores_busy = clock.core_s / max(clock.now * machine.cores, 1e-9)
    return rollout


def _go_on(process: Process) -> None:
    if event := next(process, None):
        event(partial(_go_on, process))


class _Clock:
    """Timers run in real time. Work on cores runs in a time of its own, slower when there is more work than cores.

    Everybody's share is the same, so one virtual time serves all: a second of work begun at virtual 5 ends at 6.
    """

    def __init__(self, cores: float) -> None:
        self.now = self.core_s = 0.0  # core_s: used so far, on all cores
        self._cores, self._virtual, self._demand, self._order = cores, 0.0, 0.0, count()
        self._timers: list[tuple[float, int, Then]] = []
        self._works: list[tuple[float, int, float, Then]] = []

    def wait(self, seconds: float, then: Then) -> None:
        heappush(self._timers, (self.now + seconds, next(self._order), then))

    def work(self, seconds: float, cores: float, then: Then) -> None:
        self._demand += cores
        heappush(self._works, (self._virtual + seconds, next(self._order), cores, then))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._timers or self._works:
            speed = min(1.0, self._cores / self._demand) if self._works else 1.0
            timer_at = self._timers[0][0] if self._timers else inf
            work_at = self.now + (self._works[0][0] - self._virtual) / speed if self._works else inf
            passed = max(min(timer_at, work_at) - self.now, 0.0)
            self.now += passed
            self._virtual += passed * speed
            self.core_s += passed * speed * self._demand
            if timer_at <= work_at:
                *_, then = heappop(self._timers)
            else:
                self._virtual, _, cores, then = heappop(self._works)
                self._demand = self._demand - cores if self._works else 0.0  # rounding does not add up
            then()


class _Engine:
    def __init__(self, costs: EngineCosts, browsers: int, clock: _Clock, rollout: Rollout) -> None:
        self.homes, self.busy_s = 0, 0.0  # homes: episodes that ask here
        self._costs, self._max_rows, self._clock, self._rollout = costs, costs.max_rows or browsers, clock, rollout
        self._known: set[str] = set()  # groups whose common beginning was read
        self._waiting: deque[tuple[TurnLoad, Then]] = deque()
        self._rows: list[tuple[int, int, TurnLoad, Then]] = []  # by the token at which they end
        self._order, self._drawn, self._context, self._busy = count(), 0, 0, False

    def ask(self, turn: TurnLoad, then: Then) -> None:
        self._waiting.append((turn, then))
        if not self._busy:
            _go_on(self._serve())

    def _serve(self) -> Process:
        """Until nobody waits."""
        costs, rows, self._busy = self._costs, self._rows, True
        while self._waiting or rows:
            reading_s = 0.0
            while self._waiting and len(rows) < self._max_rows:
                reading_s += self._admit(*self._waiting.popleft())
            left = rows[0][0] - self._drawn
            tokens = min(left, max(AT_ONCE, int(left * SHARE)))
            drawing_s = tokens * (costs.step_s + len(rows) * costs.row_s + self._context * costs.context_s)
            self._rollout.reading_s += reading_s
            self._rollout.drawing_s += drawing_s
            spent_s, began = reading_s + drawing_s, self._clock.now
            yield partial(self._clock.work, spent_s, costs.cores) if costs.cores else partial(self._clock.wait, spent_s)
            self.busy_s += self._clock.now - began
            self._drawn += tokens
            self._context += tokens * len(rows)
            while rows and rows[0][0] <= self._drawn:
                _, _, turn, then = heappop(rows)
                self._context -= turn.context + turn.reply
                then()
        self._busy = False

    def _admit(self, turn: TurnLoad, then: Then) -> float:
        """The seconds of reading the prompt."""
        tokens = turn.fresh
        if turn.shared and turn.group not in self._known:
            self._known.add(turn.group)
            tokens += turn.shared
        self._rollout.read_tokens += tokens
        self._context += turn.context
        heappush(self._rows, (self._drawn + turn.reply, next(self._order), turn, then))
        costs = self._costs
        return costs.prompt_s + tokens * (costs.token_s + turn.context * costs.pair_s) if tokens else 0.0


def _browser(
    coming: Iterator[EpisodeLoad], machine: Machine, engines: Sequence[_Engine], clock: _Clock, rollout: Rollout
) -> Process:
    for turns in coming:
        engine = min(engines, key=lambda one: one.homes, default=None)
        if engine:
            engine.homes += 1
        yield from _browse(machine.open, clock)
        for turn in turns:
            began = clock.now
            if engine:
                yield partial(engine.ask, turn)
            rollout.turns += 1
            rollout.reply_tokens += turn.reply
            rollout.policy_s += clock.now - began
            if turn.acts:
                began = clock.now
                yield from _browse(machine.turn, clock)
                rollout.browser_s += clock.now - began
        if engine:
            engine.homes -= 1


def _browse(work: Work, clock: _Clock) -> Process:
    yield partial(clock.wait, work.wait_s)
    yield partial(clock.work, work.core_s, 1.0)
