"""Pocket Shop: a small web shop with categories, search, reviews, a cart, checkout and order history."""

from clickgrad.worlds.shop.app import app
from clickgrad.worlds.shop.schema import build, user_id
from clickgrad.worlds.site import Site

SHOP = Site("shop", app, build, user_id, "A shop: products, reviews, a cart, orders.")

__all__ = ["SHOP"]
