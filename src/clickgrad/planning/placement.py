"""The placement of a run for `--dry-run`: on the GPUs that are here or assumed, or as a table of many machines."""

from __future__ import annotations

from collections.abc import Iterator

from clickgrad.backends.gpus import gpus_here
from clickgrad.backends.placement import (
    Load,
    Machine,
    Placement,
    assumed_machine,
    fitting,
    load_of,
    machine_of,
    place,
    way_out,
)
from clickgrad.config import Config
from clickgrad.errors import UserError
from clickgrad.report.tables import Table

NODES = ((1, 1), (1, 2), (1, 4), (1, 8), (2, 8))  # nodes, GPUs each
MEMORIES = (24, 40, 80)  # GB


def placement_lines(config: Config) -> Iterator[str]:
    """Raises UserError where the GPUs that are here or assumed are too small."""
    options, gpus = config.placement, gpus_here()
    try:
        load = load_of(config, config.model.path)
    except UserError as error:
        yield f"no placement: {error}"  # of a model that nobody here knows
        return
    if not options.assume and not gpus:
        yield f"no GPU here: placement of {load.model.name} by GPUs and their memory, GB a GPU"
        yield from placement_table(load, options.mode).text().splitlines()
        yield from ways_out(load, options.mode)
        return
    machine = assumed_machine(options.assume) if options.assume else machine_of(gpus)
    placement = fitting(load, machine, options.mode, options.learners)
    yield from placement.lines()
    yield f"  start it so: {_started(placement)}"


def _started(placement: Placement) -> str:
    if placement.machine.nodes > 1:
        numbers = f"cluster.engines={placement.engines} cluster.learners={placement.learners}"
        return f"on a Ray cluster, with cluster.address=auto {numbers} cluster.engine_gpus=1 cluster.learner_gpus=1"
    return f"torchrun --nproc-per-node {placement.learners} -m -- clickgrad train ..."


def placement_table(load: Load, mode: str = "auto") -> Table:
    rows = [
        (
            f"{nodes}x{gpus}" if nodes > 1 else str(gpus),
            *(_cell(load, Machine(nodes, gpus, gb), mode) for gb in MEMORIES),
        )
        for nodes, gpus in _nodes(mode)
    ]
    return Table(("GPUs", *(f"{gb} GB" for gb in MEMORIES)), tuple(rows))


def _nodes(mode: str) -> list[tuple[int, int]]:
    """One GPU cannot be shared out, and several nodes do not take turns."""
    useless = {"separate": (1, 1), "shared": (2, 8)}.get(mode)
    return [one for one in NODES if one != useless]


def _cell(load: Load, machine: Machine, mode: str) -> str:
    placement = place(load, machine, mode)
    return f"no, {placement.lack_gb:.1f} short" if placement.fault() else placement.words()


def ways_out(load: Load, mode: str = "auto") -> Iterator[str]:
    """What would fit where nothing does, machines with the same way out together."""
    found: dict[str, list[str]] = {}
    for gb in MEMORIES:
        for nodes, gpus in _nodes(mode):
            machine = Machine(nodes, gpus, gb)
            if place(load, machine, mode).fault():
                found.setdefault(way_out(load, machine), []).append(str(machine))
    yield from (f"{', '.join(machines)}: {way}" for way, machines in found.items())
