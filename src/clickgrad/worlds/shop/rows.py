"""The rows of the shop and its back office: one dataclass per table, one field per column, in the order of the schema.

Money is in cents, dates are ISO text: "2025-03-04 09:12" for moments, "2025-03-04" for days.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Category:
    id: int
    name: str
    slug: str


@dataclass(frozen=True, slots=True)
class Product:
    id: int
    category_id: int
    name: str
    brand: str
    price_cents: int
    color: str
    stock: int
    sku: str
    description: str
    featured: bool  # on the home page
    sizes: str  # "" or what a buyer chooses from: "Small,Medium,Large"
    enabled: bool  # the shop neither shows nor sells the others
    created: str

    @property
    def size_options(self) -> tuple[str, ...]:
        return tuple(size.strip() for size in self.sizes.split(",") if size.strip())


@dataclass(frozen=True, slots=True)
class Customer:
    id: int
    name: str
    email: str
    password: str  # in the clear: everybody in this town is made up
    phone: str
    customer_group: str
    created: str
    newsletter: bool  # wanted in the account; `subscribers` are addresses left in the sign-up form


@dataclass(frozen=True, slots=True)
class Address:
    id: int
    customer_id: int
    label: str  # no two alike for one customer
    street: str
    city: str
    postcode: str
    is_default: bool  # one of each customer's

    @property
    def line(self) -> str:
        """As orders keep it: an address edited later does not change where an order went."""
        return f"{self.street}, {self.city} {self.postcode}"


@dataclass(frozen=True, slots=True)
class Review:
    id: int
    product_id: int
    customer_id: int
    nickname: str
    stars: int
    title: str
    text: str
    created: str
    status: str


@dataclass(frozen=True, slots=True)
class CartItem:
    id: int
    customer_id: int
    product_id: int
    size: str
    quantity: int


@dataclass(frozen=True, slots=True)
class WishItem:
    id: int
    customer_id: int
    product_id: int


@dataclass(frozen=True, slots=True)
class Promotion:
    id: int
    name: str
    code: str
    kind: str
    amount: int  # percent, or cents, or 0
    starts: str
    ends: str  # the last day
    active: bool

    def valid_on(self, day: str) -> bool:
        return self.active and self.starts <= day <= self.ends

    def discount_cents(self, goods_cents: int, shipping_cents: int) -> int:
        if self.kind == "Percent":
            return min(goods_cents * self.amount // 100, goods_cents)
        return shipping_cents if self.kind == "Free shipping" else min(self.amount, goods_cents)


@dataclass(frozen=True, slots=True)
class CartCoupon:
    id: int
    customer_id: int
    promotion_id: int


@dataclass(frozen=True, slots=True)
class Order:
    id: int
    customer_id: int
    created: str
    status: str
    shipping_method: str
    payment_method: str
    address: str
    coupon: str
    discount_cents: int
    total_cents: int  # the items' prices, plus shipping, minus the discount


@dataclass(frozen=True, slots=True)
class OrderItem:
    id: int
    order_id: int
    product_id: int
    size: str
    quantity: int
    price_cents: int  # of one piece, when it was bought


@dataclass(frozen=True, slots=True)
class Return:
    id: int
    order_item_id: int
    quantity: int
    reason: str
    comment: str
    status: str
    created: str


@dataclass(frozen=True, slots=True)
class ContactMessage:
    id: int
    customer_id: int | None
    email: str
    subject: str
    text: str
    created: str


@dataclass(frozen=True, slots=True)
class Subscriber:
    id: int
    email: str
    created: str


@dataclass(frozen=True, slots=True)
class Staff:
    id: int
    name: str
    email: str
    password: str
    role: str


@dataclass(frozen=True, slots=True)
class OrderNote:
    id: int
    order_id: int
    staff_id: int | None
    text: str
    notify: bool  # the customer was told
    created: str


@dataclass(frozen=True, slots=True)
class Shipment:
    id: int
    order_id: int
    carrier: str
    tracking: str
    created: str


@dataclass(frozen=True, slots=True)
class CmsPage:
    id: int
    title: str
    slug: str
    content: str  # one paragraph a line
    status: str
    updated: str


@dataclass(frozen=True, slots=True)
class SearchTerm:
    id: int
    term: str
    results: int
    uses: int
    last_used: str


@dataclass(frozen=True, slots=True)
class Setting:
    id: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ShopData:
    """One field per table, of the same name."""

    categories: tuple[Category, ...]
    products: tuple[Product, ...]
    customers: tuple[Customer, ...]
    addresses: tuple[Address, ...]
    reviews: tuple[Review, ...]
    cart_items: tuple[CartItem, ...]
    wish_items: tuple[WishItem, ...]
    promotions: tuple[Promotion, ...]
    cart_coupons: tuple[CartCoupon, ...]
    orders: tuple[Order, ...]
    order_items: tuple[OrderItem, ...]
    returns: tuple[Return, ...]
    contact_messages: tuple[ContactMessage, ...]
    subscribers: tuple[Subscriber, ...]
    staff: tuple[Staff, ...]
    order_notes: tuple[OrderNote, ...]
    shipments: tuple[Shipment, ...]
    cms_pages: tuple[CmsPage, ...]
    search_terms: tuple[SearchTerm, ...]
    settings: tuple[Setting, ...]
