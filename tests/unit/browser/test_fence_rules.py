"""The fence as Chromium is told it, without a browser."""

from __future__ import annotations

import pytest

from clickgrad.browser.chromium import switches
from clickgrad.browser.fence import Fence, resolver_rules


def test_the_outer_wall_maps_the_hosts_and_refuses_the_rest() -> None:
    assert resolver_rules({"shop.localhost": "127.0.0.1:8000", "map.localhost:443": "127.0.0.1:8001"}) == (
        "MAP shop.localhost:80 127.0.0.1:8000, MAP map.localhost:443 127.0.0.1:8001, MAP * ~NOTFOUND"
    )
    assert resolver_rules({}) == "MAP * ~NOTFOUND"
    assert f"--host-resolver-rules={resolver_rules({'a': 'b:1'})}" in switches({"a": "b:1"})


def test_the_inner_wall_lets_the_sessions_own_places_pass_and_sends_loopback_nowhere_too() -> None:
    proxy = Fence.around(["shop.localhost", "192.168.1.5:7770", "[::1]:8000"]).proxy
    assert proxy["bypass"] == "<-loopback>,192.168.1.5:7770,[::1]:8000,shop.localhost:80"


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://shop.localhost/", True),
        ("http://SHOP.localhost:80/cart?x=1", True),
        ("ws://shop.localhost/socket", True),
        ("http://[::1]:8000/", True),
        ("data:text/html,x", True),
        ("blob:http://elsewhere/1", True),
        ("about:blank", True),
        ("https://shop.localhost/", False),
        ("http://shop.localhost:8000/", False),
        ("http://a.shop.localhost/", False),
        ("http://shop.localhost.evil/", False),
        ("http://shop.localhost@evil/", False),
        ("http://[::1]/", False),
        ("http://127.0.0.1/", False),
        ("file:///etc/passwd", False),
        ("chrome://version", False),
        ("ftp://shop.localhost:80/", False),
    ],
)
def test_a_place_is_a_host_and_a_port(url: str, allowed: bool) -> None:
    assert Fence.around(["shop.localhost", "[::1]:8000"]).allows(url) is allowed
