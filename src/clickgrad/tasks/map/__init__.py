"""The map's tasks: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.map import (
    changing,
    finding,
    looking,
    plays_changing,
    plays_finding,
    plays_looking,
    plays_routes,
    routes,
)
from clickgrad.tasks.templates import Template

MAP_TEMPLATES = (
    Template("map", "place_fact", finding.place_fact, plays_finding.place_fact),
    Template("map", "coordinates", finding.coordinates, plays_finding.coordinates),
    Template("map", "route_fact", routes.route_fact, plays_routes.route_fact),
    Template("map", "compare_routes", routes.compare_routes, plays_routes.compare_routes),
    Template("map", "within_reach", routes.within_reach, plays_routes.within_reach),
    Template("map", "nearest", finding.nearest, plays_finding.nearest),
    Template("map", "count_near", finding.count_near, plays_finding.count_near),
    Template("map", "open_directions", routes.open_directions, plays_routes.open_directions),
    Template("map", "open_page", looking.open_page, plays_looking.open_page),
    Template("map", "save_places", changing.save_places, plays_changing.save_places),
    Template("map", "edit_saved", changing.edit_saved, plays_changing.edit_saved),
    Template("map", "map_note", changing.map_note, plays_changing.map_note),
    Template("map", "tour", routes.tour, plays_routes.tour),
    Template("map", "unachievable", looking.unachievable, plays_looking.unachievable),
    Template("map", "best_rated", looking.best_rated, plays_looking.best_rated, unseen=True),
    Template("map", "manage_lists", changing.manage_lists, plays_changing.manage_lists, unseen=True),
    Template("map", "route_steps", routes.route_steps, plays_routes.route_steps, unseen=True),
)

__all__ = ["MAP_TEMPLATES"]
