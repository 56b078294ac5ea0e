"""The tables of the shop and its back office, and how the start data gets into them.

Money is in cents, dates are ISO text ("2025-03-04 09:12" or "2025-03-04").
"""

from __future__ import annotations

import sqlite3

from clickgrad.worlds.shop.data import shop_data
from clickgrad.worlds.universe import fill_tables

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
    featured INTEGER NOT NULL,
    sizes TEXT NOT NULL,  -- '' or options a buyer chooses from, e.g. 'Small,Medium,Large'
    enabled INTEGER NOT NULL,  -- disabled products are 404 in the shop and absent from lists
    created TEXT NOT NULL
);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    phone TEXT NOT NULL,
    customer_group TEXT NOT NULL,  -- General | Wholesale | VIP
    created TEXT NOT NULL,
    newsletter INTEGER NOT NULL
);
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers,
    label TEXT NOT NULL,  -- Home | Work | ...
    street TEXT NOT NULL,
    city TEXT NOT NULL,
    postcode TEXT NOT NULL,
    is_default INTEGER NOT NULL
);
-- Approved | Pending | Rejected; the shop shows approved ones only, a new one is Pending
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products,
    customer_id INTEGER NOT NULL REFERENCES customers,
    nickname TEXT NOT NULL,
    stars INTEGER NOT NULL CHECK (stars BETWEEN 1 AND 5),
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    created TEXT NOT NULL,
    status TEXT NOT NULL
);
CREATE TABLE cart_items (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers,
    product_id INTEGER NOT NULL REFERENCES products,
    size TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    UNIQUE (customer_id, product_id, size)
);
CREATE TABLE wish_items (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers,
    product_id INTEGER NOT NULL REFERENCES products,
    UNIQUE (customer_id, product_id)
);
CREATE TABLE promotions (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    code TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,  -- Percent | Fixed | Free shipping
    amount INTEGER NOT NULL,  -- percent, or cents, or 0
    starts TEXT NOT NULL,
    ends TEXT NOT NULL,
    active INTEGER NOT NULL
);
CREATE TABLE cart_coupons (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL UNIQUE REFERENCES customers,
    promotion_id INTEGER NOT NULL REFERENCES promotions
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers,
    created TEXT NOT NULL,
    status TEXT NOT NULL,  -- Processing | On Hold | Shipped | Delivered | Cancelled
    shipping_method TEXT NOT NULL,
    payment_method TEXT NOT NULL,
    address TEXT NOT NULL,  -- one line
    coupon TEXT NOT NULL,
    discount_cents INTEGER NOT NULL,
    total_cents INTEGER NOT NULL
);
CREATE TABLE order_items (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders,
    product_id INTEGER NOT NULL REFERENCES products,
    size TEXT NOT NULL,
    quantity INTEGER NOT NULL,
    price_cents INTEGER NOT NULL
);
CREATE TABLE returns (
    id INTEGER PRIMARY KEY,
    order_item_id INTEGER NOT NULL REFERENCES order_items,
    quantity INTEGER NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    status TEXT NOT NULL,  -- Requested | Approved | Refused
    created TEXT NOT NULL
);
CREATE TABLE contact_messages (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER REFERENCES customers,
    email TEXT NOT NULL,
    subject TEXT NOT NULL,
    text TEXT NOT NULL,
    created TEXT NOT NULL
);
-- newsletter, with or without an account
CREATE TABLE subscribers (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, created TEXT NOT NULL);
-- The back office's own
-- id 1 is Emma Lopez, the default user
CREATE TABLE staff (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    password TEXT NOT NULL,
    role TEXT NOT NULL
);
CREATE TABLE order_notes (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders,
    staff_id INTEGER REFERENCES staff,
    text TEXT NOT NULL,
    notify INTEGER NOT NULL,
    created TEXT NOT NULL
);
CREATE TABLE shipments (
    id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders,
    carrier TEXT NOT NULL,
    tracking TEXT NOT NULL,
    created TEXT NOT NULL
);
-- Published | Draft; the shop serves published ones at /pages/{slug}
CREATE TABLE cms_pages (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    slug TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL,
    status TEXT NOT NULL,
    updated TEXT NOT NULL
);
-- history; searching does not change it
CREATE TABLE search_terms (
    id INTEGER PRIMARY KEY,
    term TEXT NOT NULL UNIQUE,
    results INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    last_used TEXT NOT NULL
);
-- Store name, Store email, Store phone, Free shipping from, Low stock limit, ...
CREATE TABLE settings (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
CREATE INDEX reviews_of_product ON reviews (product_id);
CREATE INDEX addresses_of_customer ON addresses (customer_id);
CREATE INDEX orders_of_customer ON orders (customer_id);
CREATE INDEX items_of_order ON order_items (order_id);
CREATE INDEX items_of_product ON order_items (product_id);
CREATE INDEX returns_of_item ON returns (order_item_id);
CREATE INDEX notes_of_order ON order_notes (order_id);
CREATE INDEX shipments_of_order ON shipments (order_id);
"""


def build(db: sqlite3.Connection, seed: int) -> None:
    db.executescript(SCHEMA)
    fill_tables(db, shop_data(seed))


def user_id(db: sqlite3.Connection, email: str) -> int | None:
    row = db.execute("SELECT id FROM customers WHERE email = ?", (email,)).fetchone()
    return None if row is None else int(row[0])
