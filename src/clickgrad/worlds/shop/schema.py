"""The shop's tables, and how the start data gets into them. Money is in cents, dates are ISO text."""

from __future__ import annotations

import dataclasses
import sqlite3

from clickgrad.worlds.shop.data import shop_data

SCHEMA = """
CREATE TABLE categories (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, slug TEXT NOT NULL UNIQUE);
CREATE TABLE products (
    id INTEGER PRIMARY KEY,
    category_id INTEGER NOT NULL REFERENCES categories,
    name TEXT NOT NULL UNIQUE,
    brand TEXT NOT NULL,
    price_cents INTEGER NOT NULL,
    color TEXT NOT NULL,
    stock INTEGER NOT NULL CHECK (stock >= 0),
    sku TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    featured INTEGER NOT NULL
);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    street TEXT NOT NULL,
    city TEXT NOT NULL
);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products,
    customer_id INTEGER NOT NULL REFERENCES customers,
    nickname TEXT NOT NULL,
    stars INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    created TEXT NOT NULL
);
CREATE INDEX reviews_of_product ON reviews (product_id);
CREATE TABLE cart_items (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers,
    product_id INTEGER NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    UNIQUE (customer_id, product_id)
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers,
    created TEXT NOT NULL,
    status TEXT NOT NULL,
    shipping_method TEXT NOT NULL,
    payment_method TEXT NOT NULL,
    total_cents INTEGER NOT NULL
);
CREATE INDEX orders_of_customer ON orders (customer_id);
CREATE TABLE order_items (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders,
    product_id INTEGER NOT NULL REFERENCES products,
    quantity INTEGER NOT NULL,
    price_cents INTEGER NOT NULL
);
CREATE INDEX items_of_order ON order_items (order_id);
"""


def build(db: sqlite3.Connection, seed: int) -> None:
    db.executescript(SCHEMA)
    data = shop_data(seed)
    for table in dataclasses.fields(data):
        rows = [dataclasses.astuple(row) for row in getattr(data, table.name)]
        places = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {table.name} VALUES ({places})", rows)


def user_id(db: sqlite3.Connection, email: str) -> int | None:
    row = db.execute("SELECT id FROM customers WHERE email = ?", (email,)).fetchone()
    return None if row is None else int(row[0])
