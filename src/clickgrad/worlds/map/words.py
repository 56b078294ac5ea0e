"""The vocabulary the map is made of: common English words, so that a small tokenizer keeps them short."""

from __future__ import annotations

from dataclasses import dataclass

REGIONS = ("Maple Coast", "Silver Coast", "Heron Bay", "Alder Bay")
TOWNS = (
    "Ashford", "Kingsport", "Millbrook", "Lakewood", "Stonebridge", "Fairview", "Riverton",
    "Oakdale", "Greenfield", "Westbury", "Clearwater", "Redhill", "Summerton", "Brookfield",
)  # fmt: skip
DISTRICTS = (
    "Old Market", "Castle Hill", "Harbor Side", "River Bank", "North Gate", "South Gate", "West Gate", "East Gate",
    "Mill Quarter", "Garden City", "Station Quarter", "Long Meadow", "Green Hill", "Orchard Park", "Lower Town",
    "Upper Town", "New Town", "Rose Hill", "West End", "East End", "Bell Green", "Abbey Fields", "Chapel Row",
    "Sunny Side", "Pine Grove", "Fox Hollow", "Kings Cross", "Canal Side",
)  # fmt: skip

STREET_WORDS = (
    "Oak", "Maple", "Elm", "Cedar", "Pine", "Birch", "Willow", "Chestnut", "Walnut", "Cherry", "Apple", "Rose", "Lily",
    "Church", "Chapel", "Abbey", "Castle", "King", "Queen", "Prince", "Duke", "Market", "Mill", "Bridge", "Station",
    "School", "College", "Park", "Garden", "Orchard", "Meadow", "Field", "Forest", "Hill", "Valley", "Lake", "River",
    "Spring", "Harbor", "Ocean", "Beach", "Stone", "Brick", "Iron", "Silver", "Gold", "Copper", "North", "South",
    "East", "West", "High", "Long", "Broad", "Victoria", "Albert", "Franklin", "Lincoln", "Washington", "Jefferson",
    "Monroe", "Madison", "Baker", "Cooper", "Mason", "Potter", "Weaver", "Hunter", "Fisher", "Shepherd", "Sunset",
    "Sunrise", "Liberty", "Union", "Central", "Grove", "Bell", "Clock", "Crown", "Lion", "Swan", "Eagle", "Fox", "Deer",
)  # fmt: skip
AVENUE_TYPES = ("Avenue", "Avenue", "Road", "Boulevard")
STREET_TYPES = ("Street", "Street", "Street", "Lane", "Road", "Way")

ADJECTIVES = (
    "Blue", "Red", "Green", "Golden", "Silver", "White", "Black", "Little", "Old", "New", "Royal", "Happy",
    "Sunny", "Quiet", "Grand", "Lucky", "Copper", "Velvet", "Wild", "Honest", "Merry", "Bright", "Cozy", "Purple",
)  # fmt: skip
NOUNS = (
    "Door", "Lion", "Fox", "Rose", "Lantern", "Anchor", "Apple", "Bell", "Bridge", "Table", "Corner", "Garden",
    "Window", "Moon", "Star", "Owl", "Swan", "Barrel", "Spoon", "Kettle", "Ship", "Tower", "Leaf", "Pearl", "Horse",
    "Feather", "Olive", "Cherry", "Candle", "Wheel",
)  # fmt: skip
SURNAMES = (
    "Adams", "Allen", "Bailey", "Barnes", "Bennett", "Brooks", "Butler", "Campbell", "Clark", "Collins", "Cook",
    "Cooper", "Davis", "Edwards", "Evans", "Foster", "Gray", "Green", "Hall", "Harris", "Hughes", "Jackson", "Jenkins",
    "Kelly", "Lewis", "Long", "Martin", "Mason", "Moore", "Morgan", "Murphy", "Nelson", "Owens", "Perry", "Porter",
    "Powell", "Roberts", "Rogers", "Ross", "Russell", "Scott", "Simmons", "Taylor", "Turner", "Walker", "Ward",
    "Watson", "White", "Wilson", "Wright",
)  # fmt: skip
TREES = (
    "Oak", "Maple", "Elm", "Cedar", "Pine", "Birch", "Willow", "Chestnut", "Walnut", "Cherry", "Apple", "Rose",
    "Lily", "Lake", "Hill", "Meadow", "Valley", "Spring", "Forest", "Garden",
)  # fmt: skip
SAINTS = (
    "Anna", "Mary", "John", "Paul", "Peter", "Mark", "Luke", "James", "Martin", "George", "Nicholas", "Clare",
    "Helen", "Michael", "Thomas", "Andrew",
)  # fmt: skip
TOPICS = (
    "Art", "History", "Science", "Toy", "Train", "Ship", "Music", "Glass", "Farm", "Clock", "Film", "Stone", "Bread",
    "Fashion", "Nature", "Space",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """A category of places: how many there are, what they are called, when they are open, how they are drawn."""

    count: int
    names: tuple[str, ...]  # patterns
    hours: tuple[tuple[str, str, str], ...]  # Monday to Friday, Saturday, Sunday
    group: str  # of symbols on the map


_SHOP_HOURS = (
    ("9:00-18:00", "9:00-14:00", "closed"),
    ("9:30-19:00", "10:00-16:00", "closed"),
    ("10:00-18:30", "10:00-15:00", "closed"),
    ("8:30-17:30", "9:00-13:00", "closed"),
    ("10:00-20:00", "10:00-18:00", "12:00-17:00"),
)
_FOOD_HOURS = (
    ("11:30-22:00", "12:00-23:00", "12:00-21:00"),
    ("17:00-23:00", "16:00-23:30", "closed"),
    ("11:00-21:30", "11:00-22:30", "11:30-20:00"),
    ("12:00-22:30", "13:00-23:00", "closed"),
)
_CAFE_HOURS = (
    ("7:00-17:00", "8:00-16:00", "9:00-14:00"),
    ("7:30-18:00", "8:30-17:00", "closed"),
    ("8:00-19:00", "9:00-19:00", "10:00-16:00"),
    ("6:30-15:00", "7:00-13:00", "8:00-12:00"),
)
_CULTURE_HOURS = (
    ("10:00-17:00", "10:00-18:00", "11:00-17:00"),
    ("9:00-16:30", "11:00-15:00", "closed"),
    ("10:00-18:00", "12:00-17:00", "13:00-17:00"),
    ("8:30-19:00", "9:00-14:00", "closed"),
)
_OFFICE_HOURS = (
    ("8:00-16:00", "closed", "closed"),
    ("9:00-17:00", "9:00-12:00", "closed"),
    ("8:30-12:30", "closed", "closed"),
    ("7:30-15:30", "8:00-11:00", "closed"),
)
_LONG_HOURS = (
    ("7:00-21:00", "7:00-20:00", "9:00-18:00"),
    ("6:00-22:00", "7:00-22:00", "8:00-20:00"),
    ("8:00-20:00", "8:00-18:00", "closed"),
)
_NIGHT_HOURS = (
    ("16:00-23:30", "15:00-23:30", "closed"),
    ("17:00-23:00", "14:00-23:30", "15:00-22:00"),
    ("18:00-23:30", "18:00-23:30", "18:00-21:30"),
)
_ALWAYS = (("24 hours", "24 hours", "24 hours"),)

KINDS: dict[str, Kind] = {
    "Bakery": Kind(106, ("{surname} Bakery", "{adjective} {noun} Bakery", "{district} Bakery"), _CAFE_HOURS, "food"),
    "Bank": Kind(
        56, ("Harbor Bank {district}", "Union Bank {district}", "First Bank {district}"), _OFFICE_HOURS, "office"
    ),
    "Bar": Kind(104, ("{adjective} {noun} Bar", "{noun} and {second} Bar"), _NIGHT_HOURS, "drink"),
    "Bookstore": Kind(62, ("{adjective} {noun} Books", "{surname} Bookstore"), _SHOP_HOURS, "shop"),
    "Cafe": Kind(
        240, ("{adjective} {noun} Cafe", "{adjective} {noun} Coffee House", "{noun} Street Cafe"), _CAFE_HOURS, "drink"
    ),
    "Church": Kind(
        60, ("Saint {saint} Church", "{district} Church", "{town} {tree} Chapel"), _CULTURE_HOURS, "culture"
    ),
    "Cinema": Kind(30, ("{noun} Cinema", "{adjective} Screen Cinema", "{district} Cinema"), _NIGHT_HOURS, "culture"),
    "Clothing Store": Kind(
        116, ("{surname} Clothing", "{adjective} {noun} Fashion", "{surname} Style"), _SHOP_HOURS, "shop"
    ),
    "Dentist": Kind(
        86, ("{surname} Dental Care", "{district} Dental Clinic", "{noun} Dental Care"), _OFFICE_HOURS, "health"
    ),
    "Gas Station": Kind(
        46, ("Speedy Gas {district}", "Comet Gas {district}", "Eagle Gas {district}"), _LONG_HOURS, "travel"
    ),
    "Gym": Kind(
        60, ("{noun} Gym", "{district} Fitness Club", "{adjective} {noun} Sports Club"), _LONG_HOURS, "leisure"
    ),
    "Hair Salon": Kind(
        116, ("{surname} Hair Salon", "{adjective} {noun} Hair", "Studio {surname}"), _SHOP_HOURS, "shop"
    ),
    "Hospital": Kind(
        18, ("{town} General Hospital", "{surname} Memorial Hospital", "{district} Hospital"), _ALWAYS, "health"
    ),
    "Hotel": Kind(130, ("{adjective} {noun} Hotel", "{adjective} {noun} Inn", "Hotel {surname}"), _ALWAYS, "stay"),
    "Library": Kind(30, ("{district} Library", "{town} Public Library", "{surname} Library"), _CULTURE_HOURS, "learn"),
    "Museum": Kind(56, ("{town} {topic} Museum", "{surname} {topic} Museum"), _CULTURE_HOURS, "culture"),
    "Park": Kind(24, (), _ALWAYS, "leisure"),  # the parks themselves, named when the streets were drawn
    "Pharmacy": Kind(
        100, ("{surname} Pharmacy", "{district} Pharmacy", "{adjective} {noun} Pharmacy"), _SHOP_HOURS, "health"
    ),
    "Police Station": Kind(16, ("{district} Police Station", "{town} Police Station"), _ALWAYS, "office"),
    "Post Office": Kind(
        40, ("{district} Post Office", "{town} Post Office", "{noun} Square Post Office"), _OFFICE_HOURS, "office"
    ),
    "Restaurant": Kind(
        300,
        ("{adjective} {noun} Restaurant", "{adjective} {noun} Kitchen", "{adjective} {noun} Grill"),
        _FOOD_HOURS,
        "food",
    ),
    "School": Kind(
        90,
        ("{tree} Elementary School", "{tree} Middle School", "{surname} High School", "{district} School"),
        _OFFICE_HOURS,
        "learn",
    ),
    "Supermarket": Kind(
        84,
        (
            "Fresh Market {district}",
            "Corner Mart {district}",
            "Green Basket {district}",
            "Penny Foods {district}",
            "Daily Foods {district}",
        ),
        _LONG_HOURS,
        "shop",
    ),
    "Train Station": Kind(
        12, ("{town} Central Station", "{town} North Station", "{town} South Station"), _ALWAYS, "travel"
    ),
}

LISTS = ("Favorites", "Want to Go", "Home", "Work")  # every user has these
EXTRA_LISTS = ("Summer Trip", "Date Night", "With Kids", "Rainy Days", "Team Lunch", "Weekend Walks", "Gift Ideas")
SAVED_NOTES = (
    "Ask for a window seat", "Bring the kids", "Closed in August", "Good for a long lunch", "Park behind the house",
    "Take the side door", "Book a table first", "Best before noon", "Meet Nora here", "Quiet on Mondays",
    "Try the apple cake", "Call before going", "Cash only", "Nice view of the river", "Go with the whole team",
)  # fmt: skip

PROBLEMS = ("Wrong address", "Wrong phone number", "Wrong opening hours", "Closed for good", "Road blocked", "Other")
# problem -> what people write about it
PROBLEM_TEXTS: dict[str, tuple[str, ...]] = {
    "Wrong address": ("The entrance is around the corner.", "The house number is wrong.", "They moved next door."),
    "Wrong phone number": (
        "Nobody answers this number.",
        "The number belongs to someone else.",
        "Two digits are wrong.",
    ),
    "Wrong opening hours": (
        "They close one hour earlier.",
        "They are open on Sunday now.",
        "The hours changed in March.",
    ),
    "Closed for good": ("The windows are covered with paper.", "A sign on the door says closed.", "It is empty now."),
    "Road blocked": ("There are road works in front.", "A tree fell on the road.", "The bridge nearby is closed."),
    "Other": ("There is a new bike rack here.", "The name on the sign is longer.", "There is a step at the door."),
}
EDIT_FIELDS = ("Name", "Phone", "Website", "Opening hours", "Address")
