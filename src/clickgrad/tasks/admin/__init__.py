"""The back office's tasks: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.admin import (
    lists,
    office,
    ordering,
    people,
    reporting,
    scripts_changing,
    scripts_reading,
    stocking,
)
from clickgrad.tasks.templates import Template

ADMIN_TEMPLATES = (
    Template("admin", "top_seller", reporting.top_seller, scripts_reading.top_seller),
    Template("admin", "count_orders", reporting.count_orders, scripts_reading.count_orders),
    Template("admin", "sales_figure", reporting.sales_figure, scripts_reading.sales_figure),
    Template("admin", "search_term", reporting.search_term, scripts_reading.search_term),
    Template("admin", "order_facts", ordering.order_facts, scripts_reading.order_facts),
    Template("admin", "review_facts", people.review_facts, scripts_reading.review_facts),
    Template("admin", "stock_watch", stocking.stock_watch, scripts_reading.stock_watch),
    Template("admin", "open_grid", lists.open_grid, scripts_reading.open_grid),
    Template("admin", "missing", lists.missing, scripts_reading.missing),
    Template("admin", "order_status", ordering.order_status, scripts_changing.order_status),
    Template("admin", "ship_order", ordering.ship_order, scripts_changing.ship_order),
    Template("admin", "note_order", ordering.note_order, scripts_changing.note_order),
    Template("admin", "handle_return", ordering.handle_return, scripts_changing.handle_return),
    Template("admin", "moderate_reviews", people.moderate_reviews, scripts_changing.moderate_reviews),
    Template("admin", "edit_customer", people.edit_customer, scripts_changing.edit_customer),
    Template("admin", "update_product", stocking.update_product, scripts_changing.update_product),
    Template("admin", "update_products", stocking.update_products, scripts_changing.update_products),
    Template("admin", "promotion", office.promotion, scripts_changing.promotion),
    Template("admin", "content_page", office.content_page, scripts_changing.content_page),
    Template("admin", "change_setting", office.change_setting, scripts_changing.change_setting),
    Template("admin", "best_customer", reporting.best_customer, scripts_reading.best_customer, unseen=True),
    Template("admin", "new_product", stocking.new_product, scripts_changing.new_product, unseen=True),
    Template("admin", "newsletter", people.newsletter, scripts_reading.newsletter, unseen=True),
)

__all__ = ["ADMIN_TEMPLATES"]
