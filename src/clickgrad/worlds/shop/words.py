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

# nouns whose products come in sizes, two of each category
SIZED = (
    "Pan", "Tray", "Towel", "Robe", "Notebook", "Folder", "Bear", "Kite",
    "Glove", "Helmet", "Pot", "Hose", "Candle", "Shade", "Suitcase", "Hat",
)  # fmt: skip
SIZES = "Small,Medium,Large"

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

STREETS = ("Oak Street", "Lake Road", "Church Lane", "Park Avenue", "Mill Street", "Hill Road", "Station Road")
CITIES = ("Boston", "Denver", "Austin", "Portland", "Chicago", "Seattle", "Atlanta", "Phoenix")
ADDRESS_LABELS = ("Home", "Work", "Parents", "Cabin")

# stars -> titles, what was noticed, and what the buyer makes of it
OPINIONS: dict[int, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    1: (
        ("Very bad", "Broke at once", "Do not buy", "Waste of money"),
        (
            "It broke on the first day.", "It came with a deep scratch.", "Two parts were missing.",
            "The paint came off in my hands.", "It smells of oil.", "The box was empty.",
        ),
        ("I want my money back.", "I sent it back.", "Never again.", "I am very disappointed."),
    ),
    2: (
        ("Not for me", "Poor quality", "Expected more", "Too thin"),
        (
            "It feels cheap.", "The color is not as shown.", "It is smaller than it looks.", "The edges are rough.",
            "It wobbles on a flat table.", "It lost its shine in a week.",
        ),
        ("I would not buy it again.", "I gave it to my neighbor.", "There are better ones.", "It may do for a guest."),
    ),
    3: (
        ("It is fine", "Just okay", "Does the job", "Not bad"),
        (
            "It does the job.", "Good, but a bit small.", "It is heavier than I thought.", "It took a week to arrive.",
            "The lid does not quite fit.", "It is louder than the old one.",
        ),
        ("For the price it is okay.", "I keep it for now.", "My wife likes it more than I do.", "It could be better."),
    ),
    4: (
        ("Good value", "Nice item", "Works well", "Happy with it"),
        (
            "I use it every week.", "It came on time and works well.", "It is easy to clean.",
            "It fits our small flat.", "It looks better than in the picture.", "The handle is very comfortable.",
        ),
        ("One star off for the price.", "I would buy it again.", "A good choice.", "My kids like it too."),
    ),
    5: (
        ("Love it", "Perfect", "Best of its kind", "A joy to use"),
        (
            "Better than I hoped.", "I use it every day.", "It survived three moves.", "It was a gift for my mother.",
            "Everybody asks where I got it.", "It still looks like new after a year.",
        ),
        ("I would buy it again.", "I ordered two more.", "Worth every cent.", "I could not be happier."),
    ),
}  # fmt: skip

RETURN_REASONS = ("Damaged", "Wrong item", "Wrong size", "No longer needed")
RETURN_COMMENTS = (
    "", "", "", "It has a crack.", "The box was open.", "I ordered another color.", "It does not fit.",
    "I found one at home.", "One part is missing.",
)  # fmt: skip

ORDER_NOTES = (
    "Customer asked for gift wrap.", "Called the customer about the delivery day.", "Address checked.",
    "Packed by the morning shift.", "Payment confirmed by the bank.", "Customer wants the parcel left at the door.",
    "Waiting for one item from the warehouse.", "Sent a copy of the invoice.", "Customer is on holiday until Monday.",
    "Fragile label added.",
)  # fmt: skip

# subject -> texts of the contact form
MESSAGES: dict[str, tuple[str, ...]] = {
    "Order": ("When will my order arrive?", "Can I change the address of my order?", "One item is missing."),
    "Product": ("Do you have this in blue?", "When is the lamp back in stock?", "How long is the hose?"),
    "Return": ("How do I send an item back?", "I have not got my refund yet.", "The return label does not print."),
    "Other": ("Do you have a store in Denver?", "I like the new catalog.", "Please call me back."),
}
