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
    plays,
    plays_changing,
    plays_reading,
    unseen,
)
from clickgrad.tasks.templates import Template

SHOP_TEMPLATES = (
    Template("shop", "find_fact", finding.find_fact, plays.find_fact),
    Template("shop", "sort_and_filter", finding.sort_and_filter, plays.sort_and_filter),
    Template("shop", "add_to_cart", changing.add_to_cart, plays.add_to_cart),
    Template("shop", "checkout", changing.checkout, plays.checkout),
    Template("shop", "write_review", changing.write_review, plays.write_review),
    Template("shop", "order_history", finding.order_history, plays.order_history),
    Template("shop", "review_fact", opinions.review_fact, plays_reading.review_fact),
    Template("shop", "spending", history.spending, plays_reading.spending),
    Template("shop", "latest_order", history.latest_order, plays_reading.latest_order),
    Template("shop", "find_order", history.find_order, plays_reading.find_order),
    Template("shop", "compare_products", comparing.compare_products, plays.compare_products),
    Template("shop", "more_filters", comparing.more_filters, plays.more_filters),
    Template("shop", "cart_edit", carts.cart_edit, plays_changing.cart_edit),
    Template("shop", "fill_several", carts.fill_several, plays_changing.fill_several),
    Template("shop", "wish_list", carts.wish_list, plays_changing.wish_list),
    Template("shop", "order_details", ordering.order_details, plays_changing.order_details),
    Template("shop", "buy_product", ordering.buy_product, plays_changing.buy_product),
    Template("shop", "buy_superlative", ordering.buy_superlative, plays_changing.buy_superlative),
    Template("shop", "order_actions", after_sales.order_actions, plays_changing.order_actions),
    Template("shop", "return_item", after_sales.return_item, plays_changing.return_item),
    Template("shop", "address_book", customers.address_book, plays_changing.address_book),
    Template("shop", "account_edit", customers.account_edit, plays_changing.account_edit),
    Template("shop", "contact", customers.contact, plays_changing.contact),
    Template("shop", "unachievable", hopeless.unachievable, plays_reading.unachievable),
    Template("shop", "store_info", unseen.store_info, plays_reading.store_info, unseen=True),
    Template("shop", "change_password", unseen.change_password, plays_changing.change_password, unseen=True),
    Template("shop", "clear_wish_list", unseen.clear_wish_list, plays_changing.clear_wish_list, unseen=True),
)

__all__ = ["SHOP_TEMPLATES"]
