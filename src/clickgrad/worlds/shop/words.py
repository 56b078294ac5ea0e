"""The vocabulary the shop is made of: common English words, so that a small tokenizer keeps them short."""

from __future__ import annotations

# category -> noun -> the materials it can be made of
CATALOGUE: dict[str, dict[str, tuple[str, ...]]] = {
    "Kitchen": {
        "Mug": ("Ceramic", "Glass", "Steel"),
        "Bowl": ("Ceramic", "Glass", "Wooden"),
        "Plate": ("Ceramic", "Paper", "Wooden"),
        "Pan": ("Iron", "Steel", "Copper"),
        "Knife": ("Steel", "Ceramic", "Plastic"),
        "Kettle": ("Steel", "Copper", "Glass"),
        "Spoon": ("Wooden", "Steel", "Plastic"),
        "Jar": ("Glass", "Ceramic", "Plastic"),
        "Tray": ("Wooden", "Steel", "Plastic"),
        "Teapot": ("Ceramic", "Glass", "Iron"),
    },
    "Bath": {
        "Towel": ("Cotton", "Linen", "Bamboo"),
        "Mirror": ("Glass", "Wooden", "Steel"),
        "Basket": ("Bamboo", "Plastic", "Wooden"),
        "Stool": ("Wooden", "Plastic", "Bamboo"),
        "Brush": ("Wooden", "Plastic", "Bamboo"),
        "Robe": ("Cotton", "Silk", "Linen"),
        "Mat": ("Cotton", "Rubber", "Bamboo"),
        "Shelf": ("Glass", "Steel", "Wooden"),
        "Hook": ("Steel", "Wooden", "Brass"),
        "Curtain": ("Cotton", "Linen", "Plastic"),
    },
    "Office": {
        "Desk": ("Wooden", "Glass", "Steel"),
        "Chair": ("Leather", "Wooden", "Plastic"),
        "Pen": ("Steel", "Plastic", "Wooden"),
        "Notebook": ("Paper", "Leather", "Linen"),
        "Folder": ("Paper", "Plastic", "Leather"),
        "Clock": ("Wooden", "Steel", "Plastic"),
        "Stapler": ("Steel", "Plastic", "Brass"),
        "Ruler": ("Wooden", "Steel", "Plastic"),
        "Drawer": ("Wooden", "Steel", "Plastic"),
        "Board": ("Cork", "Wooden", "Glass"),
    },
    "Toys": {
        "Train": ("Wooden", "Plastic", "Steel"),
        "Puzzle": ("Wooden", "Paper", "Plastic"),
        "Bear": ("Cotton", "Wool", "Silk"),
        "Boat": ("Wooden", "Plastic", "Rubber"),
        "Robot": ("Steel", "Plastic", "Wooden"),
        "Drum": ("Wooden", "Plastic", "Steel"),
        "Kite": ("Paper", "Silk", "Plastic"),
        "Doll": ("Cotton", "Wooden", "Plastic"),
        "Castle": ("Wooden", "Plastic", "Paper"),
        "Truck": ("Wooden", "Plastic", "Steel"),
    },
    "Sports": {
        "Ball": ("Leather", "Rubber", "Plastic"),
        "Bat": ("Wooden", "Steel", "Plastic"),
        "Rope": ("Cotton", "Rubber", "Leather"),
        "Glove": ("Leather", "Cotton", "Rubber"),
        "Helmet": ("Plastic", "Steel", "Leather"),
        "Bottle": ("Steel", "Plastic", "Glass"),
        "Racket": ("Wooden", "Steel", "Carbon"),
        "Tent": ("Cotton", "Canvas", "Plastic"),
        "Bench": ("Wooden", "Steel", "Leather"),
        "Whistle": ("Steel", "Plastic", "Brass"),
    },
    "Garden": {
        "Pot": ("Clay", "Plastic", "Stone"),
        "Shovel": ("Steel", "Wooden", "Plastic"),
        "Hose": ("Rubber", "Plastic", "Steel"),
        "Fence": ("Wooden", "Steel", "Bamboo"),
        "Rake": ("Steel", "Wooden", "Bamboo"),
        "Bucket": ("Steel", "Plastic", "Wooden"),
        "Fountain": ("Stone", "Clay", "Copper"),
        "Swing": ("Wooden", "Steel", "Canvas"),
        "Gate": ("Iron", "Wooden", "Steel"),
        "Birdhouse": ("Wooden", "Clay", "Plastic"),
    },
    "Lighting": {
        "Lamp": ("Glass", "Brass", "Paper"),
        "Lantern": ("Paper", "Steel", "Glass"),
        "Candle": ("Wax", "Glass", "Soy"),
        "Bulb": ("Glass", "Plastic", "Crystal"),
        "Chandelier": ("Crystal", "Brass", "Iron"),
        "Torch": ("Steel", "Plastic", "Bamboo"),
        "Shade": ("Linen", "Paper", "Glass"),
        "Spotlight": ("Steel", "Plastic", "Brass"),
        "Sconce": ("Brass", "Iron", "Glass"),
        "Nightlight": ("Plastic", "Glass", "Ceramic"),
    },
    "Travel": {
        "Backpack": ("Canvas", "Leather", "Cotton"),
        "Suitcase": ("Leather", "Plastic", "Canvas"),
        "Wallet": ("Leather", "Canvas", "Cork"),
        "Umbrella": ("Plastic", "Silk", "Cotton"),
        "Pillow": ("Cotton", "Silk", "Wool"),
        "Blanket": ("Wool", "Cotton", "Linen"),
        "Belt": ("Leather", "Canvas", "Cotton"),
        "Hat": ("Cotton", "Straw", "Wool"),
        "Scarf": ("Silk", "Wool", "Cotton"),
        "Purse": ("Leather", "Silk", "Canvas"),
    },
}

ADJECTIVES = ("Large", "Small", "Classic", "Modern", "Compact", "Simple", "Fancy", "Sturdy", "Light", "Deluxe")
COLORS = ("Blue", "Red", "Green", "Black", "White", "Yellow", "Gray", "Brown", "Orange", "Purple")
BRANDS = (
    "Acorn", "Harbor", "Maple", "Summit", "River", "Falcon", "Lotus", "Pioneer",
    "Coral", "Ember", "Willow", "Granite", "Meadow", "Comet", "Anchor", "Orchid",
)  # fmt: skip
DESCRIPTIONS = (
    "Made to last for years.",
    "Easy to clean and store.",
    "A fine gift for a friend.",
    "Our best seller this season.",
    "Made by hand in small numbers.",
    "Tested for everyday use.",
    "Comes in a recycled box.",
    "Designed for small homes.",
)

FIRST_NAMES = (
    "Emma", "James", "Olivia", "Henry", "Sofia", "Lucas", "Grace", "Daniel", "Alice", "Oscar",
    "Clara", "Samuel", "Julia", "Victor", "Nora", "Peter", "Laura", "Simon", "Rosa", "Martin",
)  # fmt: skip
LAST_NAMES = (
    "Lopez", "Brown", "Miller", "Carter", "Young", "Reed", "Stone", "Baker", "Wood", "Hill",
    "King", "Price", "Cole", "Fisher", "Grant", "Lane", "Marsh", "Parker", "Shaw", "West",
)  # fmt: skip
STREETS = ("Oak Street", "Lake Road", "Church Lane", "Park Avenue", "Mill Street", "Hill Road", "Station Road")
CITIES = ("Boston", "Denver", "Austin", "Portland", "Chicago", "Seattle", "Atlanta", "Phoenix")

# stars -> review titles and texts a buyer might write
OPINIONS: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {
    1: (("Very bad", "Broke at once"), ("It broke on the first day.", "I want my money back.")),
    2: (("Not for me", "Poor quality"), ("It feels cheap.", "The color is not as shown.")),
    3: (("It is fine", "Just okay"), ("It does the job.", "Good, but a bit small.")),
    4: (("Good value", "Nice item"), ("I use it every week.", "It came on time and works well.")),
    5: (("Love it", "Perfect"), ("I would buy it again.", "Better than I hoped.")),
}
