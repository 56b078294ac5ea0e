"""Looking around: the map itself, search, categories, a place's page, what is near it, and what is at a point."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from clickgrad.worlds.map.data import Place
from clickgrad.worlds.map.drawing import Pin
from clickgrad.worlds.map.geometry import Point, coordinates
from clickgrad.worlds.map.pages import PAGE_SIZE, Panel, Visit, find_place, paging, panel, render, seed_of
from clickgrad.worlds.map.search import SORTS, Query, near, read_coordinates
from clickgrad.worlds.map.terrain import terrain
from clickgrad.worlds.map.view import WHOLE, View, fit, make_view
from clickgrad.worlds.map.words import KINDS
from clickgrad.worlds.pages import parse_count, redirect

PLACE_ZOOM = 4
CLOSE_ZOOM = 3
MAX_TEXT = 200
RADII = {"250": "250 m", "500": "500 m", "1000": "1 km", "2000": "2 km", "5000": "5 km"}
DEFAULT_RADIUS = "1000"
HERE_RADIUS = 3_000
_POPULAR = ("Restaurant", "Cafe", "Hotel", "Museum", "Park", "Pharmacy", "Supermarket", "Train Station")


def home(visit: Visit) -> Response:
    ground = terrain(seed_of(visit.db))
    towns = [(town.name, make_view(town.center, 3).url) for town in ground.towns]
    shown = panel(visit, WHOLE, controls=True)
    return render(visit, "home.html", region=ground.name, towns=towns, popular=_POPULAR, panel=shown)


def show_map(visit: Visit) -> Response:
    point = read_coordinates(visit.query.get("at", "")) or (WHOLE.x, WHOLE.y)
    zoom = parse_count(visit.query.get("zoom", ""))
    view = make_view(point, WHOLE.zoom if zoom is None else zoom)
    center = (view.x, view.y)
    values = {"region": terrain(seed_of(visit.db)).name, "where": _where(visit, center), "center": coordinates(center)}
    return render(
        visit, "map.html", 200, places=_best_in(visit, view), panel=panel(visit, view, controls=True), **values
    )


def categories(visit: Visit) -> Response:
    return render(visit, "categories.html", categories=sorted(KINDS))


def search(visit: Visit) -> Response:
    text = visit.query.get("q", "").strip()[:MAX_TEXT]
    if point := read_coordinates(text):
        return redirect(_here_url(point))
    towns = [town.name for town in terrain(seed_of(visit.db)).towns]
    query = Query(
        text,
        category=visit.query.get("category", "") if visit.query.get("category") in KINDS else "",
        town=visit.query.get("town", "") if visit.query.get("town") in towns else "",
        sort=visit.query.get("sort", "") if visit.query.get("sort") in SORTS else "match",
    )
    found = query.run(visit.db)
    pages = paging(visit, "/search", len(found), ("q", "category", "town", "sort"))
    shown = found[pages.offset :][:PAGE_SIZE]
    heading = f"Results for {text}" if text else query.category or "Type what you are looking for."
    values = {"query": query, "places": shown, "total": len(found), "pages": pages, "heading": heading}
    return render(visit, "search.html", 200, towns=sorted(towns), sorts=SORTS, panel=_pinned(visit, shown), **values)


def place(visit: Visit) -> Response:
    return place_page(visit, find_place(visit))


def place_page(visit: Visit, shown: Place, note: str = "", list_id: str = "", error: str = "") -> Response:
    """`note` and `list_id` are what the visitor filled into the form for saving, `error` what is wrong with it."""
    lists, saved = [], []
    if visit.user:
        own = (visit.user.id,)
        lists = visit.db.execute("SELECT id, name FROM map_lists WHERE user_id = ? ORDER BY id", own).fetchall()
        saved = visit.db.execute(
            "SELECT l.name, s.note FROM map_saved s JOIN map_lists l ON l.id = s.list_id"
            " WHERE l.user_id = ? AND s.place_id = ? ORDER BY l.id",
            (visit.user.id, shown.id),
        ).fetchall()
    values = {"lists": lists, "saved": saved, "note": note, "list_id": list_id, "error": error}
    drawn = panel(visit, make_view(shown.point, PLACE_ZOOM), [Pin(shown.point)])
    sent = visit.query.get("sent") == "1"
    return render(visit, "place.html", 422 if error else 200, place=shown, panel=drawn, sent=sent, **values)


def share(visit: Visit) -> Response:
    shown = find_place(visit)
    drawn = panel(visit, make_view(shown.point, PLACE_ZOOM), [Pin(shown.point)])
    return render(visit, "share.html", place=shown, panel=drawn)


def nearby(visit: Visit) -> Response:
    center = find_place(visit)
    category = visit.query.get("category", "") if visit.query.get("category") in KINDS else ""
    radius = visit.query.get("radius", "") if visit.query.get("radius") in RADII else DEFAULT_RADIUS
    found = [one for one in near(visit.db, center.point, int(radius), category) if one.place.id != center.id]
    pages = paging(visit, f"/place/{center.id}/nearby", len(found), ("category", "radius"))
    shown = found[pages.offset :][:PAGE_SIZE]
    reach = int(radius)
    corners = [(center.x - reach, center.y - reach), (center.x + reach, center.y + reach)]
    pins = [*(Pin(one.place.point, "small") for one in shown), Pin(center.point)]
    drawn = panel(visit, fit(corners), pins, radius=(center.point, reach))
    values = {"found": shown, "total": len(found), "pages": pages, "category": category, "radius": radius}
    return render(visit, "nearby.html", 200, place=center, categories=sorted(KINDS), radii=RADII, panel=drawn, **values)


def here(visit: Visit) -> Response:
    """What is at a point: the region's part it lies in, and the nearest places."""
    text = visit.query.get("at", "").strip()[:MAX_TEXT]
    point = read_coordinates(text)
    if point is None:
        error = "Enter coordinates on this map, such as 52.5312, 3.2045." if text else ""
        return render(visit, "here.html", at=text, where="", found=[], error=error, panel=panel(visit, WHOLE))
    if text != coordinates(point):
        return redirect(_here_url(point))
    found = near(visit.db, point, HERE_RADIUS)[:PAGE_SIZE]
    drawn = panel(visit, make_view(point, PLACE_ZOOM), [Pin(point)])
    values = {"at": coordinates(point), "where": _where(visit, point), "found": found}
    return render(visit, "here.html", 200, error="", panel=drawn, **values)


def _best_in(visit: Visit, view: View) -> list[Place]:
    """Some of the places that a close view shows."""
    if view.zoom < CLOSE_ZOOM:
        return []
    left, top, width, height = view.box
    rows = visit.db.execute(
        "SELECT * FROM map_places WHERE x BETWEEN ? AND ? AND y BETWEEN ? AND ? ORDER BY rating DESC, id LIMIT ?",
        (left, left + width, top, top + height, PAGE_SIZE),
    )
    return [Place(*row) for row in rows]


def _here_url(point: Point) -> str:
    return f"/here?{urlencode({'at': coordinates(point)})}"


def _where(visit: Visit, point: Point) -> str:
    ground = terrain(seed_of(visit.db))
    if ground.land.is_sea(point, 0):
        return "the sea"
    for town in ground.towns:
        if (point[0] - town.center[0]) ** 2 + (point[1] - town.center[1]) ** 2 < (1.2 * town.radius) ** 2:
            return f"{town.district_at(point).name}, {town.name}"
    return "open country"


def _pinned(visit: Visit, places: list[Place]) -> Panel:
    pins = [Pin(one.point, "small") for one in places]
    return panel(visit, fit([one.point for one in places]), pins)
