"""The map's tasks: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.map import (
    changing,
    finding,
    looking,
    routes,
    scripts_changing,
    scripts_finding,
    scripts_looking,
    scripts_routes,
)
from clickgrad.tasks.templates import Template

MAP_TEMPLATES = (
    Template("map", "place_fact", finding.place_fact, scripts_finding.place_fact),
    Template("map", "coordinates", finding.coordinates, scripts_finding.coordinates),
    Template("map", "route_fact", routes.route_fact, scripts_routes.route_fact),
    Template("map", "compare_routes", routes.compare_routes, scripts_routes.compare_routes),
    Template("map", "within_reach", routes.within_reach, scripts_routes.within_reach),
    Template("map", "nearest", finding.nearest, scripts_finding.nearest),
    Template("map", "count_near", finding.count_near, scripts_finding.count_near),
    Template("map", "open_directions", routes.open_directions, scripts_routes.open_directions),
    Template("map", "open_page", looking.open_page, scripts_looking.open_page),
    Template("map", "save_places", changing.save_places, scripts_changing.save_places),
    Template("map", "edit_saved", changing.edit_saved, scripts_changing.edit_saved),
    Template("map", "map_note", changing.map_note, scripts_changing.map_note),
    Template("map", "tour", routes.tour, scripts_routes.tour),
    Template("map", "unachievable", looking.unachievable, scripts_looking.unachievable),
    Template("map", "best_rated", looking.best_rated, scripts_looking.best_rated, unseen=True),
    Template("map", "manage_lists", changing.manage_lists, scripts_changing.manage_lists, unseen=True),
    Template("map", "route_steps", routes.route_steps, scripts_routes.route_steps, unseen=True),
)

__all__ = ["MAP_TEMPLATES"]
