"""Nobody outside this machine reaches what clickgrad serves, unless the user says so."""

from __future__ import annotations

from ipaddress import ip_address

import psutil

from clickgrad.cli.parser import build_parser
from clickgrad.worlds.arena import Arena


def listening() -> set[tuple[str, int]]:
    """Addresses and ports on which this process can be called."""
    sockets = psutil.Process().net_connections("inet")
    return {(one.laddr.ip, one.laddr.port) for one in sockets if one.status == psutil.CONN_LISTEN}


def test_the_sites_listen_on_the_loopback_address_alone() -> None:
    before = listening()
    with Arena():
        opened = listening() - before
    assert len(opened) == 1
    assert all(ip_address(address).is_loopback for address, _ in opened)


def test_the_viewer_listens_on_the_loopback_address_unless_told_otherwise() -> None:
    assert ip_address(build_parser().parse_args(["view", "runs"]).host).is_loopback
