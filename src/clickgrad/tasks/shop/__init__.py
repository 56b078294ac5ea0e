"""The shop's tasks: its templates, each with its instances and its expert."""

from __future__ import annotations

from clickgrad.tasks.shop import (
    after_sales,
    carts,
    changing,
    comparing,
    customers,
    finding,
    history,
    hopeless,
    opinions,
    ordering,
    scripts,
    scripts_changing,
    scripts_reading,
    unseen,
)
from clickgrad.tasks.templates import Template

SHOP_TEMPLATES = (
    Template("shop", "find_fact", finding.find_fact, scripts.find_fact),
    Template("shop", "sort_and_filter", finding.sort_and_filter, scripts.sort_and_filter),
    Template("shop", "add_to_cart", changing.add_to_cart, scripts.add_to_cart),
    Template("shop", "checkout", changing.checkout, scripts.checkout),
    Template("shop", "write_review", changing.write_review, scripts.write_review),
    Template("shop", "order_history", finding.order_history, scripts.order_history),
    Template("shop", "review_fact", opinions.review_fact, scripts_reading.review_fact),
    Template("shop", "spending", history.spending, scripts_reading.spending),
    Template("shop", "latest_order", history.latest_order, scripts_reading.latest_order),
    Template("shop", "find_order", history.find_order, scripts_reading.find_order),
    Template("shop", "compare_products", comparing.compare_products, scripts.compare_products),
    Template("shop", "more_filters", comparing.more_filters, scripts.more_filters),
    Template("shop", "cart_edit", carts.cart_edit, scripts_changing.cart_edit),
    Template("shop", "fill_several", carts.fill_several, scripts_changing.fill_several),
    Template("shop", "wish_list", carts.wish_list, scripts_changing.wish_list),
    Template("shop", "order_details", ordering.order_details, scripts_changing.order_details),
    Template("shop", "buy_product", ordering.buy_product, scripts_changing.buy_product),
    Template("shop", "buy_superlative", ordering.buy_superlative, scripts_changing.buy_superlative),
    Template("shop", "order_actions", after_sales.order_actions, scripts_changing.order_actions),
    Template("shop", "return_item", after_sales.return_item, scripts_changing.return_item),
    Template("shop", "address_book", customers.address_book, scripts_changing.address_book),
    Template("shop", "account_edit", customers.account_edit, scripts_changing.account_edit),
    Template("shop", "contact", customers.contact, scripts_changing.contact),
    Template("shop", "unachievable", hopeless.unachievable, scripts_reading.unachievable),
    Template("shop", "store_info", unseen.store_info, scripts_reading.store_info, unseen=True),
    Template("shop", "change_password", unseen.change_password, scripts_changing.change_password, unseen=True),
    Template("shop", "clear_wish_list", unseen.clear_wish_list, scripts_changing.clear_wish_list, unseen=True),
)

__all__ = ["SHOP_TEMPLATES"]
