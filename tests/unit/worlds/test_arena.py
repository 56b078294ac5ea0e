import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from site_clients import OpenSite

from clickgrad.errors import UserError, WorldError
from clickgrad.types import RowChange
from clickgrad.worlds import WORLD_HEADER, Arena, World
from clickgrad.worlds.people import DEFAULT_USER
from clickgrad.worlds.shop.data import shop_data

IN_STOCK = tuple(item.id for item in shop_data(0).products if item.stock and not item.sizes)[:2]
PLAIN = IN_STOCK[0]


def hash_in_another_process(seed: int, hash_seed: str) -> str:
    program = f"from clickgrad.worlds import Arena\nwith Arena(seed={seed}) as arena: print(arena.fork().hash())"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


def test_the_same_seed_gives_the_same_world_in_every_process_and_another_seed_another(world: World) -> None:
    assert hash_in_another_process(0, "1") == world.hash()
    assert hash_in_another_process(0, "2") == world.hash()
    assert hash_in_another_process(7, "1") != world.hash()


def test_a_fork_of_a_changed_arena_starts_unchanged(arena: Arena, world: World, shop: httpx.Client) -> None:
    start = world.hash()
    shop.post(f"/product/{PLAIN}/cart", data={"quantity": "1"})
    fresh = arena.fork()
    assert world.hash() != start
    assert fresh.hash() == start
    assert fresh.diff() == ()
    fresh.close()


def test_worlds_changed_at_once_see_only_their_own_change(arena: Arena, open_shop: OpenSite) -> None:
    worlds = [arena.fork() for _ in range(64)]
    assert len({world.hash() for world in worlds}) == 1
    clients = [open_shop(world) for world in worlds]

    def shop_in(index: int) -> str:
        client = clients[index]
        for product_id in IN_STOCK:
            client.post(f"/product/{product_id}/cart", data={"quantity": str(index % 9 + 1)})
            client.post(f"/product/{product_id}/review", data={"stars": "5", "title": f"From {index}"})
        return client.get("/cart").text

    with ThreadPoolExecutor(64) as pool:
        carts = list(pool.map(shop_in, range(len(worlds))))

    for index, (world, cart) in enumerate(zip(worlds, carts, strict=True)):
        quantity = index % 9 + 1
        assert world.query("SELECT product_id, quantity FROM cart_items WHERE customer_id = 1") == tuple(
            (product_id, quantity) for product_id in IN_STOCK
        )
        assert {dict(change.values)["title"] for change in world.diff() if change.table == "reviews"} == {
            f"From {index}"
        }
        assert f"Cart ({2 * quantity})" in cart
    assert len({world.hash() for world in worlds[:9]}) == 9
    for world in worlds:
        world.close()


def test_a_world_can_be_read_while_its_pages_change_it(world: World, shop: httpx.Client) -> None:
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(
            lambda: [shop.post("/product/9/review", data={"stars": "1", "title": "t"}) for _ in range(20)]
        )
        sizes = []
        while not writing.done():
            sizes.append(len(world.diff()))
    assert sizes == sorted(sizes)
    assert len(world.diff()) == 20


@pytest.mark.parametrize("token", [None, "", "guess", "x" * 5000])
def test_a_request_without_a_living_world_is_turned_away(arena: Arena, token: str | None) -> None:
    headers = {"host": "shop.localhost"} | ({} if token is None else {WORLD_HEADER: token})
    answer = httpx.get(f"http://{arena.hosts['shop.localhost']}/", headers=headers)
    assert answer.status_code == 421
    assert answer.text == "This request belongs to no world."


def test_a_host_that_is_no_site_is_turned_away(arena: Arena, world: World) -> None:
    headers = {**world.headers, "host": "bank.localhost"}
    answer = httpx.get(f"http://{arena.hosts['shop.localhost']}/", headers=headers)
    assert answer.status_code == 421


def test_a_closed_world_is_gone_and_closing_twice_is_fine(arena: Arena, open_shop: OpenSite) -> None:
    world = arena.fork()
    client = open_shop(world)
    assert client.get("/").status_code == 200
    world.close()
    world.close()
    assert client.get("/").status_code == 421
    for use in (world.hash, world.diff, lambda: world.query("SELECT 1"), lambda: world.login(DEFAULT_USER)):
        with pytest.raises(WorldError, match="the world is closed"):
            use()


def test_an_arena_forks_only_while_it_is_open() -> None:
    arena = Arena()
    with pytest.raises(WorldError, match="not open"):
        arena.fork()
    with arena:
        world = arena.fork()
    with pytest.raises(WorldError, match="closed"):
        world.hash()
    with pytest.raises(WorldError, match="not open"):
        arena.fork()


def test_logging_in_changes_no_rows_and_strangers_cannot(world: World) -> None:
    cookies = world.login(DEFAULT_USER)
    assert len({cookie.host for cookie in cookies}) == len(cookies)
    assert ("shop.localhost", "session") in {(cookie.host, cookie.name) for cookie in cookies}
    assert world.diff() == ()
    with pytest.raises(WorldError, match="no site has a user 'nobody@"):
        world.login("nobody@example.com")


def test_queries_read_and_cannot_write(world: World) -> None:
    start = world.hash()
    assert world.query("SELECT name FROM customers WHERE email = ?", (DEFAULT_USER,)) == (("Emma Lopez",),)
    with pytest.raises(WorldError, match="readonly"):
        world.query("DELETE FROM reviews")
    with pytest.raises(WorldError, match="no such table"):
        world.query("SELECT * FROM goblins")
    assert world.hash() == start


def test_the_diff_names_inserted_updated_and_deleted_rows(world: World, open_shop: OpenSite) -> None:
    ((item_id, email, product_id, quantity),) = world.query(
        "SELECT i.id, c.email, i.product_id, i.quantity FROM cart_items i JOIN customers c ON c.id = i.customer_id"
        " ORDER BY i.id LIMIT 1"
    )
    client = open_shop(world, str(email))
    client.post(f"/cart/{item_id}/update", data={"quantity": "9"})
    assert world.diff() == (RowChange("cart_items", "update", (("quantity", 9),), key=item_id),)

    client.post(f"/cart/{item_id}/remove")
    (gone,) = world.diff()
    assert (gone.op, gone.key) == ("delete", item_id)
    assert dict(gone.values)["quantity"] == quantity

    client.post("/product/2/review", data={"stars": "3", "title": "Fine"})
    _, added = world.diff()
    assert (added.table, added.op) == ("reviews", "insert")
    assert dict(added.values)["title"] == "Fine"
    assert product_id


def test_a_change_that_is_undone_is_no_change(world: World, shop: httpx.Client) -> None:
    start = world.hash()
    shop.post(f"/product/{PLAIN}/cart", data={"quantity": "2"})
    ((item_id,),) = world.query("SELECT id FROM cart_items WHERE customer_id = 1")
    shop.post(f"/cart/{item_id}/remove")
    assert world.diff() == ()
    assert world.hash() == start


def test_the_same_history_gives_the_same_bytes(arena: Arena, open_shop: OpenSite) -> None:
    def history() -> list[tuple[int, bytes, list[tuple[str, str]]]]:
        world = arena.fork()
        client = open_shop(world)
        answers = [
            client.get("/search?q=steel"),
            client.post(f"/product/{PLAIN}/review", data={"stars": "4", "title": "Good"}),
            client.get(f"/product/{PLAIN}"),
            client.post(f"/product/{PLAIN}/cart", data={"quantity": "2"}),
            client.get("/cart"),
            client.post("/checkout", data={"address": "Home", "shipping": "Express", "payment": "Gift Card"}),
            client.get("/orders/2001?placed=1"),
            client.post("/logout"),
            client.post("/login", data={"email": DEFAULT_USER, "password": "wrong"}),
        ]
        world.close()
        return [(answer.status_code, answer.content, answer.headers.multi_items()) for answer in answers]

    assert history() == history()


def test_a_person_gets_a_shared_world_without_a_header() -> None:
    with Arena(default_world=True) as arena:
        url = f"http://{arena.hosts['shop.localhost']}/"
        assert "Pocket Shop" in httpx.get(url, headers={"host": "shop.localhost"}).text
        assert httpx.get(url, headers={"host": "shop.localhost", WORLD_HEADER: "guess"}).status_code == 421


def test_a_port_in_use_is_the_users_mistake_in_one_line(arena: Arena) -> None:
    port = int(arena.hosts["shop.localhost"].rpartition(":")[2])
    with pytest.raises(UserError, match=f"cannot listen on port {port}") as raised, Arena(port=port):
        pass
    assert "\n" not in str(raised.value)


def test_as_a_browsers_proxy_it_answers_for_its_own_sites_and_no_others(arena: Arena, world: World) -> None:
    proxy = f"http://{arena.hosts['shop.localhost']}"
    with httpx.Client(proxy=proxy, headers=world.headers, trust_env=False) as client:
        assert "Pocket Shop" in client.get("http://shop.localhost/").text
        assert client.get("http://example.com/").status_code == 421
        with pytest.raises(httpx.ProxyError):  # it connects nobody to anywhere
            client.get("https://example.com/")
