"""Joining a Ray cluster: reachable, of one version, and with room for what is to run. Refused in one line otherwise."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import ray
from ray.exceptions import GetTimeoutError, RayError
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from clickgrad.errors import UserError
from clickgrad.version import __version__

LOOK_S = 60.0  # for every node to say what it has

Resources = Mapping[str, float]


@contextmanager
def connected(address: str) -> Iterator[None]:
    """`address`: auto, ray://<host>:<port>, <host>:<port>, or local, which starts a cluster of this machine alone."""
    try:
        ray.init(
            address,
            logging_level=logging.WARNING,
            log_to_driver=False,
            include_dashboard=False if address == "local" else None,
        )
    except (ConnectionError, RuntimeError, ValueError, AssertionError) as error:
        raise UserError(
            f"cluster.address={address}: no Ray cluster to work with ({_first_line(error)}); start one with "
            "`ray start --head`, or leave it empty"
        ) from error
    try:
        _refuse_mixed_versions()
        yield
    finally:
        ray.shutdown()


def here() -> NodeAffinitySchedulingStrategy:
    """On the driver's own machine, which is there as long as the run is."""
    return NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)


def _refuse_mixed_versions() -> None:
    """Every node has this very clickgrad. Ray itself refuses other versions of Ray and Python."""
    nodes = {
        node["NodeID"]: f"{node['NodeManagerHostname']} ({node['NodeID'][:8]})" for node in ray.nodes() if node["Alive"]
    }

    def look() -> str:
        import importlib.metadata

        try:
            return importlib.metadata.version("clickgrad")
        except importlib.metadata.PackageNotFoundError:
            return "none"

    looking = ray.remote(num_cpus=0)(look)
    asked = [
        looking.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote() for node in nodes
    ]
    try:
        found = ray.get(asked, timeout=LOOK_S)
    except RayError as error:
        raise UserError(f"a node of the cluster runs nothing: {_first_line(error)}; see `ray status`") from error
    refuse_others(dict(zip(nodes.values(), found, strict=True)))


def refuse_others(versions: Mapping[str, str]) -> None:
    """By host. A worker of another version would judge, prompt or learn in another way."""
    for host, version in versions.items():
        if version != __version__:
            raise UserError(
                f"the node {host} has clickgrad {version}, not {__version__}: install the same on every node"
            )


def room_for(bundles: Sequence[Resources], kept: Resources, wait_s: float) -> PlacementGroup:
    """Reserve all bundles or none. `kept`: what must be there besides, for workers that come and go."""
    needed = sum((Counter(bundle) for bundle in bundles), Counter[str]())
    group = placement_group([dict(bundle) for bundle in bundles], strategy="SPREAD")
    try:
        ray.get(group.ready(), timeout=wait_s)
    except GetTimeoutError:
        remove_placement_group(group)
        raise UserError(_no_room(needed + Counter(kept), wait_s)) from None
    left = ray.available_resources()
    if any(left.get(name, 0) < amount for name, amount in kept.items()):
        remove_placement_group(group)
        raise UserError(_no_room(needed + Counter(kept), wait_s))
    return group


def _no_room(needed: Resources, wait_s: float) -> str:
    there = ray.cluster_resources()
    wanted = ", ".join(f"{amount:g} {name}" for name, amount in sorted(needed.items()) if amount)
    has = ", ".join(f"{there.get(name, 0):g} {name}" for name in sorted(needed))
    return (
        f"the cluster has no room within {wait_s:.0f} s: the run needs {wanted} at least, the nodes have {has} in all; "
        "add nodes, or lower cluster.engines, learners or their cpus and gpus"
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
