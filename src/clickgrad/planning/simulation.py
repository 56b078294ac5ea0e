"""The rollout of a step as a discrete-event simulation: episodes, browsers, processor cores, engines. Pure, no chance.

An episode is a process: it opens a session, then asks its engine and acts, turn by turn. Engines batch continuously:
the prompts of those who wait are read (prefill) at the next border between tokens, then all rows draw together. Work on
processor cores shares them evenly: with more work than cores everybody slows down alike, an engine that computes on the
cores included.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
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
    shared: int = 0  # prompt tokens that a group has in common: an engine reads them for the first member that asks
    acts: bool = True  # False where the reply ends the episode or is no action


@dataclass(frozen=True, slots=True)
class EpisodeLoad:
    group: str
    turns: tuple[TurnLoad, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """In a browser: on a core, and merely waiting (a site's answer, a page that settles)."""

    core_s: float
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class BrowserCosts:
    open: Work  # a session until its first page is seen, with judging and closing
    turn: Work  # an action until the next page is seen


@dataclass(frozen=True, slots=True)
class EngineCosts:
    """Seconds, when nobody competes for the cores."""

    prompt_s: float = 0.0  # of every prompt, however long
    token_s: float = 0.0  # of a prompt token to compute
    pair_s: float = 0.0  # of a prompt token to compute and a token that it sees
    step_s: float = 0.0  # of a token for all rows, however many
    row_s: float = 0.0  # more for every row
    context_s: float = 0.0  # more for every token that the rows see
    max_rows: int = 256
    cores: float = 0.0  # of the host, that it computes on; 0: it has a device of its own

    def read_s(self, tokens: int, context: int) -> float:
        return self.prompt_s + tokens * (self.token_s + context * self.pair_s) if tokens else 0.0

    def draw_s(self, rows: int, context: int) -> float:
        return self.step_s + rows * self.row_s + context * self.context_s


@dataclass(frozen=True, slots=True)
class Machine:
    engines: int  # 0: replies take no time, as those of scripts
    engine: EngineCosts
    browser: BrowserCosts
    cores: float


@dataclass(frozen=True, slots=True)
class Rollout:
    """What a simulation came to."""

    seconds: float
    episodes: int
    turns: int
    read_tokens: int  # prompt tokens computed
    reply_tokens: int
    policy_s: float  # that episodes waited for replies, added up
    browser_s: float  # that their turns took in the browsers, added up; opening is not counted
    reading_s: float  # of all engines
    drawing_s: float
    engine_busy: float  # share of the time, mean of the engines
    cores_busy: float

    @property
    def episodes_per_min(self) -> float:
        return 60 * self.episodes / self.seconds

    @classmethod
    def together(cls, parts: Sequence[Rollout]) -> Rollout:
        """One after the other: all adds up, except shares of the time, which are its mean."""
        seconds = sum(part.seconds for part in parts)
        sums = {field.name: sum(getattr(part, field.name) for part in parts) for field in fields(cls)}
        shares = {
            name: sum(getattr(part, name) * part.seconds for part in parts) / seconds
            for name in ("engine_busy", "cores_busy")
        }
        return cls(**sums | shares)


Then = Callable[[], None]


@dataclass(slots=True)
class _Clock:
    """Timers run in real time. Work on cores runs in a time of its own, slower when there is more work than cores.

    Everybody's share is the same, so one virtual time serves all: a second of work begun at virtual 5 ends at 6.
    """

    cores: float
    now: float = 0.0
    core_s: float = 0.0  # used so far
    _virtual: float = 0.0
    _demand: float = 0.0
    _timers: list[tuple[float, int, Then]] = field(default_factory=list)
    _works: list[tuple[float, int, float, Then]] = field(default_factory=list)
    _order: Iterator[int] = field(default_factory=count)

    def wait(self, seconds: float, then: Then) -> None:
        heappush(self._timers, (self.now + seconds, next(self._order), then))

    def work(self, seconds: float, cores: float, then: Then) -> None:
        self._demand += cores
        heappush(self._works, (self._virtual + seconds, next(self._order), cores, then))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._timers or self._works:
            speed = min(1.0, self.cores / self._demand) if self._works else 1.0
            timer_at = self._timers[0][0] if self._timers else inf
            work_at = self.now + (self._works[0][0] - self._virtual) / speed if self._works else inf
            self._pass(max(min(timer_at, work_at) - self.now, 0.0), speed)
            if timer_at <= work_at:
                heappop(self._timers)[2]()
            else:
                self._virtual, _, cores, then = heappop(self._works)
                self._demand -= cores
                if not self._works:
                    self._demand = 0.0  # rounding does not add up
                then()

    def _pass(self, seconds: float, speed: float) -> None:
        self.now += seconds
        self._virtual += seconds * speed
        self.core_s += seconds * speed * self._demand


class _Engine:
    def __init__(self, costs: EngineCosts, clock: _Clock) -> None:
        self.homes = 0  # episodes that ask here
        self.reading_s = self.drawing_s = self.busy_s = 0.0
        self.read_tokens = 0
        self._costs = costs
        self._clock = clock
        self._known: set[str] = set()  # groups whose common beginning was read
        self._waiting: deque[tuple[TurnLoad, str, Then]] = deque()
        self._rows: list[tuple[int, int, TurnLoad, Then]] = []  # by the token at which they end
        self._order = count()
        self._drawn = self._context = 0
        self._busy = False

    def ask(self, turn: TurnLoad, group: str, then: Then) -> None:
        self._waiting.append((turn, group, then))
        if not self._busy:
            self._go_on()

    def _go_on(self) -> None:
        reading_s = self._admit()
        self._busy = bool(self._rows)
        if not self._busy:
            return
        left = self._rows[0][0] - self._drawn
        tokens = min(left, max(AT_ONCE, int(left * SHARE)))
        drawing_s = tokens * self._costs.draw_s(len(self._rows), self._context)
        self.reading_s += reading_s
        self.drawing_s += drawing_s
        started = self._clock.now

        def done() -> None:
            self.busy_s += self._clock.now - started
            self._advance(tokens)

        if self._costs.cores:
            self._clock.work(reading_s + drawing_s, self._costs.cores, done)
        else:
            self._clock.wait(reading_s + drawing_s, done)

    def _admit(self) -> float:
        """Take in who waits, as far as rows allow; the seconds of reading their prompts."""
        seconds = 0.0
        while self._waiting and len(self._rows) < self._costs.max_rows:
            turn, group, then = self._waiting.popleft()
            tokens = turn.fresh
            if turn.shared and group not in self._known:
                self._known.add(group)
                tokens += turn.shared
            seconds += self._costs.read_s(tokens, turn.context)
            self.read_tokens += tokens
            self._context += turn.context
            heappush(self._rows, (self._drawn + turn.reply, next(self._order), turn, then))
        return seconds

    def _advance(self, tokens: int) -> None:
        self._drawn += tokens
        self._context += tokens * len(self._rows)
        while self._rows and self._rows[0][0] <= self._drawn:
            _, _, turn, then = heappop(self._rows)
            self._context -= turn.context + turn.reply
            then()
        self._go_on()


def simulate(rounds: Sequence[Sequence[EpisodeLoad]], machine: Machine, browsers: int) -> Rollout:
    """`browsers` sessions at once. A round begins when the one before has ended, as refilled groups do."""
    floor = _Floor(machine)
    for episodes in rounds:
        floor.play(episodes, browsers)
    return floor.came_to(sum(map(len, rounds)))


class _Floor:
    """Where all of it happens."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._clock = _Clock(machine.cores)
        self._engines = [_Engine(machine.engine, self._clock) for _ in range(machine.engines)]
        self._coming: deque[EpisodeLoad] = deque()
        self._turns = self._reply_tokens = 0
        self._policy_s = self._browser_s = 0.0

    def play(self, episodes: Sequence[EpisodeLoad], browsers: int) -> None:
        self._coming.extend(episodes)
        for _ in range(min(browsers, len(episodes))):
            self._begin_next()
        self._clock.run()

    def _begin_next(self) -> None:
        if not self._coming:
            return
        load = self._coming.popleft()
        engine = min(self._engines, key=lambda one: one.homes, default=None)
        if engine:
            engine.homes += 1
        deeds = _deeds(load, self._machine.browser)
        self._browse(self._machine.browser.open, lambda: self._go_on(load.group, engine, deeds))

    def _go_on(self, group: str, engine: _Engine | None, deeds: Iterator[Work | TurnLoad]) -> None:
        started = self._clock.now

        def browsed() -> None:
            self._browser_s += self._clock.now - started
            self._go_on(group, engine, deeds)

        def replied() -> None:
            self._policy_s += self._clock.now - started
            self._go_on(group, engine, deeds)

        match next(deeds, None):
            case None:
                if engine:
                    engine.homes -= 1
                self._begin_next()
            case Work() as work:
                self._browse(work, browsed)
            case TurnLoad() as turn:
                self._turns += 1
                self._reply_tokens += turn.reply
                if engine:
                    engine.ask(turn, group, replied)
                else:
                    replied()

    def _browse(self, work: Work, then: Then) -> None:
        self._clock.wait(work.wait_s, lambda: self._clock.work(work.core_s, 1.0, then))

    def came_to(self, episodes: int) -> Rollout:
        seconds, engines = self._clock.now, self._engines
        return Rollout(
            seconds=seconds,
            episodes=episodes,
            turns=self._turns,
            read_tokens=sum(engine.read_tokens for engine in engines),
            reply_tokens=self._reply_tokens,
            policy_s=self._policy_s,
            browser_s=self._browser_s,
            reading_s=sum(engine.reading_s for engine in engines),
            drawing_s=sum(engine.drawing_s for engine in engines),
            engine_busy=sum(engine.busy_s for engine in engines) / max(seconds * len(engines), 1e-9),
            cores_busy=self._clock.core_s / max(seconds * self._machine.cores, 1e-9),
        )


def _deeds(load: EpisodeLoad, browser: BrowserCosts) -> Iterator[Work | TurnLoad]:
    """After its opening."""
    for turn in load.turns:
        yield turn
        if turn.acts:
            yield browser.turn
