"""What a world costs: forking one, serving a page from it, keeping many, and forking for ever."""

from __future__ import annotations

import http.client
import random
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from clickgrad.bench.figures import median, percentile, rss_mb
from clickgrad.display import progress_bar
from clickgrad.tasks.suites import load_tasks
from clickgrad.types import Task
from clickgrad.worlds import Arena, World

PAGES = 400
WARM_FORKS = 1000  # before memory is looked at: the allocator settles


@dataclass(frozen=True, slots=True)
class WorldFigures:
    fork_ms_p50: float
    fork_ms_p95: float
    forks_per_s: float
    page_ms_p50: float  # over HTTP on loopback: server time and a little more
    page_ms_p95: float
    diff_ms_p50: float
    image_mb: float
    worlds: int  # alive at once
    rss_mb: float  # of the whole process with all of them alive and visited
    rss_mb_per_world: float
    forks: int  # one after the other
    rss_mb_growth: float  # from the thousandth to the last


def bench_worlds(worlds: int, forks: int, quiet: bool) -> WorldFigures:
    with Arena() as arena, progress_bar("bench worlds", worlds + PAGES + forks, quiet=quiet) as ticker:
        arena.fork().close()
        before, fork_s, alive = rss_mb(), [], []
        for _ in range(worlds):
            start = time.perf_counter()
            alive.append(arena.fork())
            fork_s.append(time.perf_counter() - start)
            ticker.advance()
        tasks = random.Random(0).sample(load_tasks("pocket", "all"), PAGES)
        page_s, diff_s = [], []
        for index, task in enumerate(tasks):
            world = alive[index % worlds]
            page_s.append(_visit(arena, world, task))
            start = time.perf_counter()
            world.diff()
            diff_s.append(time.perf_counter() - start)
            ticker.advance()
        full = rss_mb()
        for world in alive:
            world.close()
        settled = 0.0
        started = time.perf_counter()
        for number in range(forks):
            arena.fork().close()
            if number == WARM_FORKS:
                settled = rss_mb()
            ticker.advance()
        seconds = time.perf_counter() - started
        return WorldFigures(
            fork_ms_p50=1000 * median(fork_s),
            fork_ms_p95=1000 * percentile(fork_s, 0.95),
            forks_per_s=forks / seconds,
            page_ms_p50=1000 * median(page_s),
            page_ms_p95=1000 * percentile(page_s, 0.95),
            diff_ms_p50=1000 * median(diff_s),
            image_mb=arena.image_bytes / 1e6,
            worlds=worlds,
            rss_mb=full,
            rss_mb_per_world=(full - before) / worlds,
            forks=forks,
            rss_mb_growth=rss_mb() - settled,
        )


def _visit(arena: Arena, world: World, task: Task) -> float:
    """Seconds from asking for the task's start page to its last byte, on an open connection."""
    parts = urlsplit(task.start_urls[0])
    host = parts.hostname or ""
    cookies = {cookie.host: f"{cookie.name}={cookie.value}" for cookie in world.login(task.user or "")}
    headers = {**world.headers, "host": host, "cookie": cookies.get(host, "")}
    connection = http.client.HTTPConnection(arena.hosts[host], timeout=10)
    connection.connect()
    start = time.perf_counter()
    connection.request("GET", f"{parts.path}?{parts.query}" if parts.query else parts.path, headers=headers)
    connection.getresponse().read()
    seconds = time.perf_counter() - start
    connection.close()
    return seconds
