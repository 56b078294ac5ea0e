import re
from collections.abc import Iterator, Mapping
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from site_clients import OpenSite, site_clients

from clickgrad.types import RowChange, Scalar
from clickgrad.worlds import Arena, World
from clickgrad.worlds.map.data import Place, map_data
from clickgrad.worlds.map.pages import duration, length
from clickgrad.worlds.map.routing import find_route
from clickgrad.worlds.people import DEFAULT_USER

HOST = "map.localhost"
DATA = map_data(0)
EMMA = DATA.users[0]
LISTS = {own.name: own for own in DATA.lists if own.user_id == EMMA.id}
FAVORITE = next(saved for saved in DATA.saved if saved.list_id == LISTS["Favorites"].id)
THEIR_LIST = next(own for own in DATA.lists if own.user_id != EMMA.id)
THEIRS = next(saved for saved in DATA.saved if saved.list_id == THEIR_LIST.id)
MY_NOTE = next(note for note in DATA.notes if note.user_id == EMMA.id and note.status == "Open")
THEIR_NOTE = next(note for note in DATA.notes if note.user_id != EMMA.id)
SAVED_IDS = {saved.place_id for saved in DATA.saved}
PLACE = next(place for place in DATA.places if place.phone and place.id not in SAVED_IDS)
OTHER = next(place for place in DATA.places if place.town == PLACE.town and place.id > PLACE.id + 50)
JUNK = ("", "-1", "²", "9" * 400, "'; DROP TABLE map_notes;--", "<b>\x00\n", "💥", "x" * 700)


@pytest.fixture
def open_map(arena: Arena) -> Iterator[OpenSite]:
    with site_clients(arena, "map.localhost") as opened:
        yield opened


@pytest.fixture
def site(world: World, open_map: OpenSite) -> httpx.Client:
    return open_map(world)


@pytest.fixture
def stranger(world: World, open_map: OpenSite) -> httpx.Client:
    """A client who is not logged in."""
    return open_map(world, user=None)


def text_of(page: httpx.Response) -> str:
    """The page without the drawn map."""
    return re.sub(r"<svg.*?</svg>", "", page.text, flags=re.DOTALL)


def results(page: httpx.Response) -> list[str]:
    return [unescape(name) for name in re.findall(r'<li><a href="/place/\d+">([^<]+)</a>', text_of(page))]


def told(page: httpx.Response, label: str) -> str:
    found = re.search(rf"<li>{label}: ([^<]*)</li>", page.text)
    assert found
    return unescape(found[1])


def gap(one: Place, other: Place) -> float:
    return float(((one.x - other.x) ** 2 + (one.y - other.y) ** 2) ** 0.5)


def only_change(world: World) -> tuple[RowChange, dict[str, Scalar]]:
    (change,) = world.diff()
    return change, dict(change.values)


# --- looking --------------------------------------------------------------------------------------------------------


def test_the_map_holds_what_a_region_holds() -> None:
    assert 1_900 <= len(DATA.places) == len({place.name.lower() for place in DATA.places})
    assert len({(place.town, place.street, place.number) for place in DATA.places}) == len(DATA.places)
    assert len({place.town for place in DATA.places}) == 6
    assert len({place.category for place in DATA.places}) == 24
    assert len(DATA.users) == 60


def test_a_places_page_tells_all_about_it(site: httpx.Client) -> None:
    page = site.get(f"/place/{PLACE.id}")
    assert told(page, "Address") == f"{PLACE.number} {PLACE.street}, {PLACE.town}"
    assert told(page, "Phone") == PLACE.phone
    assert told(page, "Postcode") == PLACE.postcode
    assert told(page, "Saturday") == PLACE.saturday
    assert told(page, "Coordinates") == PLACE.coordinates
    assert told(site.get(f"/place/{PLACE.id}/share"), "Coordinates") == PLACE.coordinates


def test_search_finds_by_name_first_and_by_address(site: httpx.Client) -> None:
    for place in DATA.places[::197]:
        assert results(site.get("/search", params={"q": place.name.upper()}))[0] == place.name
        assert place.name in results(site.get("/search", params={"q": place.address}))
    assert "No places found." in site.get("/search?q=unicorn").text


def test_a_category_can_be_narrowed_sorted_and_paged(site: httpx.Client) -> None:
    own = [place for place in DATA.places if (place.category, place.town) == ("Museum", PLACE.town)]
    url, seen = f"/search?category=Museum&town={PLACE.town}&sort=rating", list[str]()
    while url:
        page = site.get(url)
        seen += results(page)
        following = re.search(r'<a href="([^"]+)">Next</a>', page.text)
        url = unescape(following[1]) if following else ""
    assert seen == [place.name for place in sorted(own, key=lambda place: (-place.rating, place.name.lower()))]


def test_what_is_near_comes_nearest_first_within_the_radius(site: httpx.Client) -> None:
    page = site.get(f"/place/{PLACE.id}/nearby?category=Cafe&radius=2000")
    cafes = [place for place in DATA.places if place.category == "Cafe" and place.id != PLACE.id]
    inside = sorted((gap(place, PLACE), place.name) for place in cafes if gap(place, PLACE) <= 2000)
    assert results(page) == [name for _, name in inside[:8]]
    assert f"Found: {len(inside)} within 2 km" in page.text


def test_coordinates_lead_to_the_place_that_is_there(site: httpx.Client) -> None:
    found = site.get("/search", params={"q": f" {PLACE.coordinates.replace(', ', ',')} "}, follow_redirects=False)
    assert parse_qs(urlsplit(found.headers["location"]).query)["at"] == [PLACE.coordinates]
    assert results(site.get(found.headers["location"]))[0] == PLACE.name
    assert "Enter coordinates on this map" in site.get("/here?at=1,2").text


def test_directions_show_time_distance_and_steps(site: httpx.Client) -> None:
    for mode in ("car", "bike", "foot"):
        page = site.get("/directions", params={"from": PLACE.name, "to": OTHER.name, "mode": mode})
        route = find_route(0, PLACE.spot, OTHER.spot, mode)
        assert told(page, "Time") == duration(route.minutes)
        assert told(page, "Distance") == length(route.meters)
        assert f"1. {route.steps[0].text}, {length(route.steps[0].meters)}" in page.text


def test_one_way_has_one_address(site: httpx.Client) -> None:
    sloppy = site.get("/directions", params={"from": PLACE.name.lower(), "to": f" {OTHER.name} "})
    query = parse_qs(urlsplit(sloppy.headers["location"]).query)
    assert query == {"from": [PLACE.name], "to": [OTHER.name], "mode": ["car"]}


def test_an_unknown_or_unclear_end_is_told_beside_its_field(site: httpx.Client) -> None:
    page = site.get("/directions", params={"from": "unicorn", "to": "cafe", "mode": "foot"})
    assert re.search(r'id="from-error"[^>]*>No place found\.', page.text)
    assert re.search(r'id="to-error"[^>]*>Several places match', page.text)
    assert page.text.count('class="choice"') == 5


PARAMETERS = {
    "/map": ("at", "zoom"),
    "/search": ("q", "category", "town", "sort", "page"),
    "/here": ("at",),
    "/directions": ("from", "to", "mode", "page"),
    f"/place/{PLACE.id}/nearby": ("category", "radius", "page"),
    "/notes": ("show", "page"),
}


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_the_address_never_breaks_a_page(world: World, site: httpx.Client, junk: str) -> None:
    usual = {"q": "cafe", "from": PLACE.name, "to": OTHER.name}
    for path, names in PARAMETERS.items():
        for name in names:
            assert site.get(path, params=usual | {name: junk}).status_code in (200, 303), (path, name)
    assert world.diff() == ()


UNKNOWN = (
    "/nope", "/place/0", "/place/x", "/place/99999999999999999999", "/place/1/", "/place/0/nearby", "/place/0/edit",
    "/saved/0", "/saved/x", "/saved/item/0", "/saved/0/edit", "/notes/0", "/notes/x", "/%00", "/..%2f..%2fetc",
)  # fmt: skip


@pytest.mark.parametrize("path", UNKNOWN)
def test_unknown_addresses_are_not_found(site: httpx.Client, path: str) -> None:
    assert site.get(path).status_code == 404


def test_pages_stay_short_and_the_map_adds_no_words(site: httpx.Client) -> None:
    for path in ("/", "/search?q=cafe", f"/place/{PLACE.id}", f"/place/{PLACE.id}/nearby", "/saved/1", "/categories"):
        text = text_of(site.get(path))
        assert len(re.findall(r"<(?:a|button|input|select|textarea|p|li|h1|h2)\b", text)) <= 60, path
        assert len(re.sub(r"<[^>]+>", " ", text).split()) < 260, path


def test_equal_histories_give_equal_bytes(arena: Arena, open_map: OpenSite) -> None:
    pages = []
    for _ in range(2):
        world = arena.fork()
        client = open_map(world)
        client.post(f"/place/{PLACE.id}/save", data={"list": str(LISTS["Work"].id), "note": "Bring keys"})
        client.post(f"/place/{OTHER.id}/report", data={"problem": "Other", "text": "Too dark."})
        paths = (f"/place/{PLACE.id}", f"/saved/{LISTS['Work'].id}", "/notes", f"/notes/{len(DATA.notes) + 1}")
        pages.append(([client.get(path).content for path in paths], world.hash()))
        world.close()
    assert pages[0] == pages[1]


# --- changing -------------------------------------------------------------------------------------------------------


def test_saving_adds_one_row_and_shows_it(world: World, site: httpx.Client) -> None:
    site.post(f"/place/{PLACE.id}/save", data={"list": str(LISTS["Work"].id), "note": "  Bring   keys "})
    change, values = only_change(world)
    assert (change.table, change.op) == ("map_saved", "insert")
    assert (values["list_id"], values["place_id"], values["note"]) == (LISTS["Work"].id, PLACE.id, "Bring keys")
    assert "Saved in: Work (Bring keys)" in site.get(f"/place/{PLACE.id}").text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({}, "Choose one of your lists."),
        ({"list": "x"}, "Choose one of your lists."),
        ({"list": str(THEIR_LIST.id)}, "Choose one of your lists."),
        ({"list": str(LISTS["Home"].id), "note": "x" * 201}, "Use at most 200 characters."),
    ],
)
def test_a_bad_saving_is_told_and_nothing_is_saved(
    world: World, site: httpx.Client, form: Mapping[str, str], message: str
) -> None:
    page = site.post(f"/place/{PLACE.id}/save", data=form)
    assert page.status_code == 422
    assert message in page.text
    assert world.diff() == ()


def test_a_place_is_in_a_list_only_once(world: World, site: httpx.Client) -> None:
    page = site.post(f"/place/{FAVORITE.place_id}/save", data={"list": str(FAVORITE.list_id)})
    assert (page.status_code, "already in Favorites" in page.text) == (422, True)
    elsewhere = {"note": "", "list": str(LISTS["Work"].id)}
    assert site.post(f"/place/{FAVORITE.place_id}/save", data=elsewhere).status_code == 303
    assert site.post(f"/saved/item/{FAVORITE.id}", data=elsewhere).status_code == 422
    assert len(world.diff()) == 1


def test_a_saved_place_gets_a_note_moves_and_goes(world: World, site: httpx.Client) -> None:
    path, here = f"/saved/item/{FAVORITE.id}", str(FAVORITE.list_id)
    site.post(path, data={"note": "New words", "list": here})
    assert only_change(world)[0] == RowChange("map_saved", "update", (("note", "New words"),), FAVORITE.id)
    site.post(path, data={"note": FAVORITE.note, "list": str(LISTS["Work"].id)})
    assert only_change(world)[0] == RowChange("map_saved", "update", (("list_id", LISTS["Work"].id),), FAVORITE.id)
    site.post(f"{path}/remove")
    assert only_change(world)[0].op == "delete"
    assert site.get(path).status_code == 404


def test_lists_are_made_renamed_and_deleted(world: World, site: httpx.Client) -> None:
    site.post("/saved", data={"name": "City Break"})
    assert only_change(world)[1] == {"id": len(DATA.lists) + 1, "user_id": 1, "name": "City Break"}
    site.post(f"/saved/{len(DATA.lists) + 1}/delete")
    assert world.diff() == ()
    site.post(f"/saved/{LISTS['Home'].id}/edit", data={"name": "Base"})
    assert only_change(world)[0] == RowChange("map_lists", "update", (("name", "Base"),), LISTS["Home"].id)
    site.post(f"/saved/{LISTS['Favorites'].id}/delete")
    gone = [change for change in world.diff() if change.op == "delete"]
    held = [saved for saved in DATA.saved if saved.list_id == LISTS["Favorites"].id]
    assert sorted(change.table for change in gone) == ["map_lists", *["map_saved"] * len(held)]


@pytest.mark.parametrize(
    ("name", "message"),
    [(" ", "Enter a name."), ("x" * 41, "at most 40"), ("want to go", "You already have a list of this name.")],
)
def test_a_bad_list_name_is_told(world: World, site: httpx.Client, name: str, message: str) -> None:
    for path in ("/saved", f"/saved/{LISTS['Home'].id}/edit"):
        page = site.post(path, data={"name": name})
        assert (page.status_code, message in page.text) == (422, True)
    assert world.diff() == ()


def test_a_report_is_a_note_that_its_author_resolves(world: World, site: httpx.Client) -> None:
    sent = site.post(f"/place/{PLACE.id}/report", data={"problem": "Road blocked", "text": "A tree."})
    change, values = only_change(world)
    assert (change.table, values["place_id"], values["problem"], values["status"]) == (
        "map_notes", PLACE.id, "Road blocked", "Open",
    )  # fmt: skip
    assert told(site.get(sent.headers["location"]), "Text") == "A tree."
    site.post(f"/notes/{MY_NOTE.id}/resolve")
    resolved = RowChange("map_notes", "update", (("status", "Resolved"),), MY_NOTE.id)
    assert resolved in world.diff()
    assert len(world.diff()) == 2


def test_a_suggested_edit_changes_no_place(world: World, site: httpx.Client) -> None:
    sent = site.post(f"/place/{PLACE.id}/edit", data={"field": "Phone", "value": "555"}, follow_redirects=True)
    assert "Thank you. Your suggestion is sent." in sent.text
    change, values = only_change(world)
    assert (change.table, values["field"], values["value"]) == ("map_edits", "Phone", "555")


@pytest.mark.parametrize(
    ("path", "form", "message"),
    [
        ("report", {"text": "x"}, "Choose a problem."),
        ("report", {"problem": "Boredom", "text": "x"}, "Choose a problem."),
        ("report", {"problem": "Other", "text": " "}, "Enter a text."),
        ("report", {"problem": "Other", "text": "x" * 501}, "Use at most 500 characters."),
        ("edit", {"field": "Mood", "value": "x"}, "Choose what should change."),
        ("edit", {"field": "Phone"}, "Enter a text."),
        ("edit", {"field": "Phone", "value": "x" * 121}, "Use at most 120 characters."),
    ],
)
def test_a_bad_report_or_edit_is_told_and_nothing_is_saved(
    world: World, site: httpx.Client, path: str, form: Mapping[str, str], message: str
) -> None:
    page = site.post(f"/place/{PLACE.id}/{path}", data=form)
    assert (page.status_code, message in page.text) == (422, True)
    assert world.diff() == ()


def test_what_is_anothers_is_forbidden(world: World, site: httpx.Client) -> None:
    for path in (f"/saved/{THEIR_LIST.id}", f"/saved/{THEIR_LIST.id}/edit", f"/saved/item/{THEIRS.id}"):
        assert site.get(path).status_code == 403, path
    own = {"name": "Mine", "note": "Mine", "list": str(LISTS["Home"].id)}
    for path in (
        f"/saved/{THEIR_LIST.id}/edit", f"/saved/{THEIR_LIST.id}/delete", f"/saved/item/{THEIRS.id}",
        f"/saved/item/{THEIRS.id}/remove", f"/notes/{THEIR_NOTE.id}/resolve",
    ):  # fmt: skip
        assert site.post(path, data=own).status_code == 403, path
    assert world.diff() == ()


def test_strangers_may_look_but_are_asked_to_log_in_to_change(world: World, stranger: httpx.Client) -> None:
    for path in ("/", f"/place/{PLACE.id}", "/notes", f"/notes/{MY_NOTE.id}"):
        assert stranger.get(path).status_code == 200
    for path in ("/saved", "/account", f"/place/{PLACE.id}/report"):
        assert stranger.get(path).headers["location"].startswith("/login?next=")
    for path in (f"/place/{PLACE.id}/save", "/saved", f"/notes/{MY_NOTE.id}/resolve"):
        assert stranger.post(path, data={"name": "x"}).headers["location"].startswith("/login")
    assert world.diff() == ()


def test_log_in_by_email_or_username_and_out(stranger: httpx.Client) -> None:
    wrong = stranger.post("/login", data={"name": DEFAULT_USER, "password": "guess"})
    assert (wrong.status_code, "The email or the password is wrong." in wrong.text) == (422, True)
    for name in ("Emma.Lopez@Example.com", EMMA.username):
        right = stranger.post("/login", data={"name": name, "password": EMMA.password, "next": "/saved"})
        assert right.headers["location"] == "/saved"
    # httpx files the cookie under the address, not the Host header, so it is carried over by hand.
    stranger.headers["cookie"] = right.headers["set-cookie"].partition(";")[0]
    assert "Favorites" in stranger.get("/saved").text
    left = stranger.post("/logout")
    stranger.headers["cookie"] = left.headers["set-cookie"].partition(";")[0]
    assert stranger.get("/saved").status_code == 303


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_a_form_never_breaks_it(site: httpx.Client, junk: str) -> None:
    paths = (
        f"/place/{PLACE.id}/save", f"/place/{PLACE.id}/report", f"/place/{PLACE.id}/edit", "/saved", "/login",
        f"/saved/item/{FAVORITE.id}", f"/saved/{LISTS['Home'].id}/edit", f"/notes/{MY_NOTE.id}/resolve",
    )  # fmt: skip
    fields = ("list", "note", "name", "problem", "text", "field", "value", "password", "next")
    for path in paths:
        assert site.post(path, data=dict.fromkeys(fields, junk)).status_code in (303, 422), path


def test_what_users_write_is_shown_escaped(site: httpx.Client) -> None:
    site.post("/saved", data={"name": "<script>alert(1)</script>"})
    assert "<script>alert" not in site.get("/saved").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in site.get("/saved").text
