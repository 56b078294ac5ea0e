"""What the forums talk about: common English words, so that a small tokenizer keeps them short."""

from __future__ import annotations

from typing import NamedTuple


class Topic(NamedTuple):
    description: str
    things: tuple[str, ...]  # fit "my first ..." and "a good ..."
    doings: tuple[str, ...]  # fit "how do you ..." and "it is hard to ..."


TOPICS: dict[str, Topic] = {
    "Art": Topic(
        "Museums, galleries and the art on our walls.",
        ("art print", "museum pass", "picture frame", "gallery tour", "art poster", "portrait", "stone statue"),
        ("hang a picture", "choose a frame", "visit a museum", "read a painting", "buy art online", "sell a print"),
    ),
    "Astronomy": Topic(
        "The night sky, planets and telescopes.",
        ("telescope", "star map", "moon photo", "sky camera", "star party", "red flashlight", "planet poster"),
        ("find Saturn", "watch a meteor shower", "photograph the moon", "leave the city lights", "name the stars"),
    ),
    "Baking": Topic(
        "Bread, cakes and everything from the oven.",
        ("bread oven", "cake recipe", "rolling pin", "pie dish", "bread knife", "apple pie", "cookie tray"),
        ("bake bread", "make a pie crust", "keep bread fresh", "bake without eggs", "freeze dough"),
    ),
    "Birds": Topic(
        "Watching and feeding wild birds.",
        ("bird feeder", "bird book", "nest box", "bird bath", "owl photo", "bird call app", "garden hide"),
        ("feed birds in winter", "tell two birds apart", "attract owls", "build a nest box", "count birds"),
    ),
    "Books": Topic(
        "Novels, stories and reading habits.",
        ("bookshelf", "reading lamp", "crime novel", "short story", "library card", "paperback", "reading list"),
        ("read before bed", "finish a long novel", "start a book club", "sort books", "read two books"),
    ),
    "Camping": Topic(
        "Tents, fires and nights outdoors.",
        ("tent", "sleeping bag", "camp stove", "folding chair", "head lamp", "water filter", "camp site"),
        ("camp in the rain", "light a fire", "pack light", "camp with children", "keep food cold"),
    ),
    "Cats": Topic(
        "Life with one cat or several.",
        ("cat bed", "cat door", "toy mouse", "cat carrier", "litter box", "cat tree", "water fountain"),
        ("train a cat", "keep two cats", "travel with a cat", "brush a long hair cat", "leave a cat alone"),
    ),
    "Coffee": Topic(
        "Beans, brewing and good cups.",
        ("coffee grinder", "hand press", "coffee scale", "travel mug", "espresso machine", "milk jug", "filter cone"),
        ("brew cold coffee", "roast beans at home", "store coffee beans", "make milk foam", "drink less coffee"),
    ),
    "Cooking": Topic(
        "Recipes and questions from home kitchens.",
        ("soup recipe", "iron pan", "chef knife", "cutting board", "rice cooker", "pasta sauce", "spice rack"),
        ("cook rice", "cook for one person", "sharpen a knife", "cook beans", "plan a week of meals", "use less salt"),
    ),
    "Cycling": Topic(
        "Bikes, routes and repairs.",
        ("road bike", "bike lock", "bike lamp", "bike helmet", "rain jacket", "bike pump", "bike trailer"),
        ("ride to work", "fix a flat tire", "clean a chain", "ride in winter", "climb long hills", "ride with a child"),
    ),
    "Dogs": Topic(
        "Walks, training and happy dogs.",
        ("dog leash", "dog bed", "chew toy", "dog coat", "dog whistle", "dog school", "dog ramp"),
        ("train a puppy", "walk two dogs", "stop the barking", "travel with a dog", "teach a dog to swim"),
    ),
    "Fishing": Topic(
        "Lakes, rivers and patient people.",
        ("fishing rod", "tackle box", "fishing boat", "fly reel", "landing net", "fishing hat", "lake map"),
        ("fish in the rain", "tie a fly", "catch trout", "fish through the ice", "teach a child to fish"),
    ),
    "Gardening": Topic(
        "Flowers, vegetables and soil.",
        ("rose bush", "tomato plant", "garden hose", "compost bin", "herb garden", "raised bed", "apple tree"),
        ("grow tomatoes", "plant garlic", "keep snails away", "water less often", "prune roses", "grow herbs indoors"),
    ),
    "History": Topic(
        "People and places of the past.",
        ("history book", "silver coin", "castle tour", "family tree", "town map", "town archive", "history podcast"),
        ("read old letters", "date an old photo", "visit a castle", "trace a family name", "visit old churches"),
    ),
    "Languages": Topic(
        "Learning and speaking other languages.",
        ("grammar book", "language app", "word list", "language class", "pocket dictionary", "study partner"),
        ("speak Spanish", "practice speaking", "remember new words", "study two languages", "read in French"),
    ),
    "Movies": Topic(
        "Films old and new.",
        ("silent movie", "movie poster", "film score", "home projector", "road movie", "film club", "spy movie"),
        ("watch movies at home", "choose a movie", "avoid spoilers", "write a review", "watch without subtitles"),
    ),
    "Music": Topic(
        "Playing and hearing music.",
        ("guitar", "piano", "record player", "drum kit", "music stand", "song book", "violin"),
        ("tune a guitar", "read music", "play the piano", "play in a band", "write a song", "sing in a choir"),
    ),
    "Painting": Topic(
        "Oil, water color and patience.",
        ("paint brush", "paint box", "easel", "sketch book", "oil color", "paint apron", "water color set"),
        ("paint a sky", "mix green", "clean a brush", "paint outdoors", "draw a hand", "paint in the evening"),
    ),
    "Photography": Topic(
        "Cameras, light and pictures.",
        ("camera bag", "film camera", "zoom lens", "photo album", "tripod", "photo printer", "memory card"),
        ("photograph people", "take photos at night", "print photos", "store old photos", "shoot on film"),
    ),
    "Puzzles": Topic(
        "Word games, number games and jigsaws.",
        ("jigsaw", "puzzle table", "puzzle book", "number puzzle", "wooden puzzle", "word game", "escape game"),
        ("solve a crossword", "sort the pieces", "finish a large jigsaw", "make a maze", "solve the cube"),
    ),
    "Running": Topic(
        "From the first mile to the marathon.",
        ("running shoe", "running watch", "training plan", "running group", "rain cap", "water belt", "park race"),
        ("run a marathon", "run in the heat", "run every morning", "warm up", "run with a dog", "run up hills"),
    ),
    "Sewing": Topic(
        "Needles, thread and handmade clothes.",
        ("sewing machine", "sewing box", "summer dress", "wool coat", "pattern book", "cotton shirt", "quilt"),
        ("sew a button", "sew a straight line", "shorten trousers", "make a pocket", "repair jeans"),
    ),
    "Travel": Topic(
        "Trips near and far.",
        ("travel guide", "train ticket", "window seat", "small hotel", "city map", "night bus", "suitcase"),
        ("travel alone", "pack for two weeks", "travel by train", "plan a road trip", "sleep on a plane"),
    ),
    "Woodworking": Topic(
        "Saws, glue and sawdust.",
        ("hand saw", "work bench", "wood glue", "tool box", "oak table", "small shelf", "garden chair"),
        ("cut a straight edge", "sand a table", "build a shelf", "repair a chair", "bend wood", "oil a table top"),
    ),
}  # fmt: skip

MONTHS = ("April", "May", "June", "July", "August", "September")  # those to come
SEASONS = ("spring", "summer", "fall", "winter")
RELATIVES = ("sister", "brother", "mother", "father", "neighbor", "cousin", "uncle", "aunt")
CITIES = ("Boston", "Denver", "Austin", "Portland", "Chicago", "Seattle", "Atlanta", "Phoenix", "Dallas", "Houston")
JOBS = ("Teacher", "Nurse", "Driver", "Student", "Cook", "Engineer", "Farmer", "Writer", "Painter", "Doctor", "Lawyer")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
TIMES = ("9:00", "10:30", "11:15", "14:00", "15:30", "16:45", "18:00", "19:30")
PLACES = ("library", "train station", "coffee house", "city park", "museum", "town hall", "market", "bus stop")

# kind -> titles; {thing} and {do} come from the forum's topic
TITLES: dict[str, tuple[str, ...]] = {
    "question": (
        "Which {thing} should I get?",
        "Is a new {thing} worth the money?",
        "What makes a good {thing}?",
        "Looking for a cheap {thing}",
        "How do you {do}?",
        "Is it hard to {do}?",
        "How long does it take to {do}?",
        "Do you {do} alone or with friends?",
    ),
    "story": (
        "My first {thing}",
        "Finally found a good {thing}",
        "What my old {thing} taught me",
        "I finally learned to {do}",
        "The day I tried to {do}",
        "Why I no longer {do}",
    ),
    "talk": (
        "Show us your favorite {thing}",
        "The {thing} I use every week",
        "The best way to {do}",
        "Tips for people who want to {do}",
    ),
    "link": (
        "A short guide to the modern {thing}",
        "Ten ways to {do}",
        "This {thing} has a long history",
    ),
}

# kind -> first sentences and second sentences of a post
BODIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "question": (
        (
            "I have been thinking about this since {season}.",
            "I am new here and need some advice.",
            "My {relative} asked me this and I had no answer.",
            "I have read a lot, but nobody agrees.",
            "I want to decide before {month}.",
            "I know this was asked before.",
            "The people in the shop could not help me.",
        ),
        (
            "What would you do?",
            "Any hint is welcome.",
            "I can spend about {number} dollars.",
            "I live in {city}, if that matters.",
            "Please tell me what works for you.",
            "Thank you for your time.",
            "I have about {number} minutes a day.",
        ),
    ),
    "story": (
        (
            "It took me {number} weeks.",
            "Nobody in my family believed me.",
            "I made every mistake there is.",
            "My {relative} gave me the idea.",
            "It began last {season} in {city}.",
            "I did not plan any of this.",
        ),
        (
            "Ask me anything about it.",
            "Next time I will start earlier.",
            "I will post an update in {month}.",
            "I would do it again.",
            "It was worth every one of the {number} dollars.",
            "My {relative} still laughs about it.",
        ),
    ),
    "talk": (
        (
            "I am curious what this group thinks.",
            "We spoke about this at our last meeting.",
            "There are many opinions on this.",
            "My own answer has changed since {season}.",
            "I started a list with {number} entries.",
        ),
        (
            "I will collect the best answers.",
            "Short answers are fine.",
            "Pictures are welcome too.",
            "Please be kind to beginners.",
            "Let us keep this thread going until {month}.",
        ),
    ),
    "link": (
        (
            "I found this page and want to share it.",
            "This explains it better than I can.",
            "My {relative} sent me this.",
            "A friend in {city} wrote this.",
        ),
        (
            "It takes {number} minutes to read.",
            "The second half is the best.",
            "I do not agree with all of it.",
            "What do you think of it?",
        ),
    ),
}

# first and second sentences of a comment: liked ones, and ones people vote down
COMMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "liked": (
        (
            "I agree with this.",
            "I had the same question last {season}.",
            "Thank you for sharing this.",
            "My {relative} does it the same way.",
            "I tried this for {number} weeks.",
            "Good point.",
            "This works for me.",
            "I asked the same thing in {city}.",
            "You are on the right path.",
            "I have done this for {number} years.",
        ),
        (
            "Start small and take your time.",
            "Ask at the club in {city}.",
            "It gets easier after the first month.",
            "Keep notes, they help a lot.",
            "The cheap one was good enough for me.",
            "You need patience more than money.",
            "I would wait until {month}.",
            "Look at the older posts here.",
            "Please post an update later.",
            "Try it on a quiet day.",
            "Let a friend help you.",
            "Do not spend more than {number} dollars.",
        ),
    ),
    "disliked": (
        (
            "This did not work for me.",
            "I do not see the point.",
            "Just search for it.",
            "That is a waste of time.",
            "I stopped reading after the title.",
            "Everybody knows this.",
        ),
        (
            "Save your money.",
            "There are better forums for this.",
            "I would give up.",
            "Nobody needs it.",
            "It was better {number} years ago.",
            "My {relative} says the same.",
        ),
    ),
}

# kind -> subject and text of a private message
MESSAGES: dict[str, tuple[str, str]] = {
    "meeting": ("Meeting on {weekday}", "Let us meet on {weekday} at {time}. I will wait at the {place}."),
    "trip": ("Trip to {city}", "I am going to {city} in {month}. Do you want to come along?"),
    "offer": ("Selling my {thing}", "You can have my {thing} for {number} dollars. Are you interested?"),
    "lend": ("Can I borrow your {thing}?", "I need it in {month} for about {number} days."),
    "club": ("Our {forum} club", "The {forum} club meets every {weekday} at {time}. New members are welcome."),
    "thanks": ("Thanks from {city}", "Your advice on {forum} helped me a lot. I owe you a coffee."),
}
