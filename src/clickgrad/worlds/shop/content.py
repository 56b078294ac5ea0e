"""What the shop's staff has written, the same in every seed: information pages, promotions, settings."""

from __future__ import annotations

# (title, slug, status, updated, paragraphs)
CMS_PAGES: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "About Us", "about-us", "Published", "2024-02-12",
        (
            "Pocket Shop began in 2009 as a market stall in Portland.",
            "Today 24 people work here and send about 80 parcels a week.",
            "We choose things that are plain, useful and made to last.",
        ),
    ),
    (
        "Shipping Information", "shipping", "Published", "2025-01-20",
        (
            "Standard: $4.00, 5 working days.",
            "Express: $9.00, 2 working days.",
            "Next Day: $15.00, ordered before 2 pm.",
            "We ship to all states but not abroad.",
        ),
    ),
    (
        "Returns", "returns", "Published", "2025-02-03",
        (
            "You can return any item of a delivered order.",
            "Open the order, choose Return and tell us why.",
            "We refund the price within 10 days. You pay for the return parcel.",
        ),
    ),
    (
        "Payment Methods", "payment", "Published", "2024-06-18",
        (
            "We take credit cards, gift cards and cash on delivery.",
            "Cash on delivery is limited to $200.00 by our carriers.",
            "Your card is charged on the day we ship.",
        ),
    ),
    (
        "Gift Cards", "gift-cards", "Published", "2024-11-08",
        (
            "Gift cards are sold for $25.00, $50.00 and $100.00.",
            "A card is valid for 3 years.",
            "It arrives by email within one hour.",
        ),
    ),
    (
        "Size Guide", "size-guide", "Published", "2024-05-27",
        (
            "Most sized products come in Small, Medium and Large.",
            "Hats: Small fits 54 cm, Medium 57 cm, Large 60 cm.",
            "Suitcases: Small holds 35 liters, Medium 60 liters, Large 90 liters.",
        ),
    ),
    (
        "Care Guide", "care-guide", "Published", "2024-08-15",
        (
            "Wood: oil it twice a year and keep it dry.",
            "Wool: wash by hand at 30 degrees.",
            "Copper: clean it with lemon and salt.",
        ),
    ),
    (
        "Our Stores", "stores", "Published", "2025-02-24",
        (
            "Portland: 18 Mill Street, open from 9 am to 7 pm.",
            "Boston: 4 Park Avenue, open from 10 am to 6 pm.",
            "Both stores are closed on Sunday.",
        ),
    ),
    (
        "Privacy", "privacy", "Published", "2024-04-02",
        (
            "We keep your orders for 7 years, as the law asks.",
            "We never sell your address.",
            "Write to us to see what we hold about you.",
        ),
    ),
    (
        "Terms of Use", "terms", "Published", "2024-04-02",
        (
            "A contract is made when we ship your order.",
            "You can cancel an order while it is Processing.",
            "All prices include tax.",
        ),
    ),
    (
        "Jobs", "jobs", "Published", "2025-03-01",
        (
            "We look for a buyer for the Toys department in Portland.",
            "We look for two drivers in Boston.",
            "Send your letter until April 15, 2025.",
        ),
    ),
    (
        "Spring Sale", "spring-sale", "Draft", "2025-03-10",
        ("From April 1 all Garden products cost less.", "Watch the newsletter for the code."),
    ),
    (
        "Gift Guide", "gift-guide", "Draft", "2024-11-20",
        ("Ten gifts under $20.00.", "For readers, cooks and travelers."),
    ),
    (
        "Wholesale", "wholesale", "Draft", "2024-09-30",
        ("Shops buy from us from 50 pieces on.", "Wholesale customers pay by invoice."),
    ),
)  # fmt: skip

# (name, code, kind, amount, starts, ends, active)
PROMOTIONS: tuple[tuple[str, str, str, int, str, str, bool], ...] = (
    ("New Year 2024", "NEWYEAR24", "Percent", 20, "2024-01-01", "2024-01-31", True),
    ("Spring Days", "SPRING24", "Percent", 10, "2024-03-15", "2024-04-15", True),
    ("Summer Sale", "SUMMER15", "Percent", 15, "2024-06-01", "2024-08-31", True),
    ("Back to School", "SCHOOL5", "Fixed", 500, "2024-08-15", "2024-09-30", True),
    ("Black Friday", "BLACK25", "Percent", 25, "2024-11-25", "2024-12-02", True),
    ("Holiday Shipping", "HOLIDAY", "Free shipping", 0, "2024-12-01", "2024-12-24", True),
    ("Welcome", "WELCOME10", "Percent", 10, "2024-01-01", "2025-12-31", True),
    ("Five Off", "SAVE5", "Fixed", 500, "2024-10-01", "2025-06-30", True),
    ("Winter Clearance", "WINTER20", "Percent", 20, "2025-01-02", "2025-03-31", True),
    ("Free March", "MARCHSHIP", "Free shipping", 0, "2025-03-01", "2025-03-31", True),
    ("Loyal Friends", "FRIEND15", "Percent", 15, "2025-02-01", "2025-12-31", True),
    ("Ten Off", "SAVE10", "Fixed", 1000, "2025-03-01", "2025-05-31", True),
    ("Staff Discount", "STAFF30", "Percent", 30, "2024-01-01", "2025-12-31", False),
    ("Spring Sale", "SPRING25", "Percent", 25, "2025-04-01", "2025-04-30", True),
    ("Mother's Day", "MOTHER10", "Fixed", 1000, "2025-05-01", "2025-05-11", True),
)

SETTINGS = (
    ("Store name", "Pocket Shop"),
    ("Store email", "hello@pocketshop.example"),
    ("Store phone", "555-0100"),
    ("Store address", "18 Mill Street, Portland 97205"),
    ("Free shipping from", "1000.00"),
    ("Low stock limit", "12"),
    ("Currency", "USD"),
    ("Orders email", "orders@pocketshop.example"),
    ("Newsletter sender", "news@pocketshop.example"),
    ("Opening hours", "9 am to 5 pm"),
)

STAFF_ROLES = ("Owner", "Manager", "Support", "Warehouse", "Editor")
CARRIERS = {"UPS": "UP", "FedEx": "FX", "DHL": "DH", "USPS": "US"}  # and how their tracking numbers begin
