"""The vocabulary of the code site: common words that make plausible projects, issues and commits when combined."""

from __future__ import annotations

# project name -> (description, topics)
PROJECTS = {
    "Backup Tool": ("Copies folders to a safe place every night", "backup, storage"),
    "Bird Guide": ("Helps you name the birds in your garden", "nature, mobile"),
    "Book Club": ("Reading lists and votes for book clubs", "books, web"),
    "Budget Planner": ("Plans monthly spending for small homes", "money, web"),
    "Calendar Sync": ("Keeps two calendars the same", "calendar, sync"),
    "Chart Kit": ("Draws simple charts from a table", "charts, design"),
    "Chat Server": ("A small chat server for teams", "chat, network"),
    "Code Formatter": ("Formats source code in one style", "tools, editor"),
    "Color Picker": ("Finds colors that go well together", "design, web"),
    "Data Cleaner": ("Finds and mends errors in tables", "data, tools"),
    "Date Picker": ("A date field that works on every phone", "forms, mobile"),
    "File Sync": ("Keeps files the same on all your machines", "storage, sync"),
    "Fitness Log": ("Writes down runs, rides and walks", "health, mobile"),
    "Form Builder": ("Builds web forms without writing code", "forms, web"),
    "Garden Planner": ("Plans what to plant and when to water it", "nature, web"),
    "Home Lights": ("Turns the lights at home on and off", "home, network"),
    "Image Resizer": ("Makes many images smaller at once", "images, tools"),
    "Invoice Maker": ("Writes invoices and tracks who has paid", "money, forms"),
    "Language Cards": ("Learn new words with picture cards", "learning, mobile"),
    "Link Checker": ("Finds broken links on a web site", "web, testing"),
    "Log Viewer": ("Reads large log files in the browser", "logs, web"),
    "Mail Reader": ("A fast reader for email", "email, network"),
    "Map Tiles": ("Serves map images to other sites", "maps, images"),
    "Music Player": ("Plays music from your own server", "music, mobile"),
    "News Reader": ("Collects news from many sites", "news, web"),
    "Parking Finder": ("Shows free parking spaces in town", "maps, mobile"),
    "Password Vault": ("Keeps passwords safe in one file", "security, storage"),
    "Photo Gallery": ("Shows photo albums on the web", "images, web"),
    "Poll Board": ("Runs quick polls for a class or team", "voting, web"),
    "Queue Worker": ("Runs jobs from a queue in the background", "jobs, network"),
    "Quiz Maker": ("Makes quizzes for schools", "learning, forms"),
    "Recipe Box": ("Stores recipes and makes shopping lists", "cooking, web"),
    "Search Engine": ("Full text search for small web sites", "search, data"),
    "Static Site": ("Turns text files into a web site", "web, tools"),
    "Task Tracker": ("A simple list of tasks for teams", "planning, web"),
    "Test Runner": ("Runs tests in parallel and shows the results", "testing, tools"),
    "Text Editor": ("A plain editor for plain text", "editor, tools"),
    "Ticket Desk": ("Answers questions from customers", "support, email"),
    "Train Times": ("Shows when the next train leaves", "travel, mobile"),
    "Weather App": ("Shows the weather for the next five days", "weather, mobile"),
}

# path -> (name, description)
GROUPS = {
    "harbor-web": ("Harbor Web", "Tools for the web, made by a small team"),
    "orchard-home": ("Orchard Home", "Open source for home and garden"),
    "summit-tools": ("Summit Tools", "Libraries that other projects build on"),
    "lantern-school": ("Lantern School", "Software for schools and libraries"),
    "meadow-apps": ("Meadow Apps", "Mobile apps for everyday life"),
}
LICENSES = ("MIT License", "Apache License 2.0", "GNU GPL 3.0", "BSD License", "Mozilla Public License 2.0")
# language -> (main file, test file)
LANGUAGES = {
    "Python": ("src/app.py", "tests/test_app.py"),
    "JavaScript": ("src/app.js", "tests/app.test.js"),
    "Rust": ("src/main.rs", "tests/main_test.rs"),
    "Go": ("src/main.go", "tests/main_test.go"),
    "Java": ("src/Main.java", "tests/MainTest.java"),
}
SOURCES = {
    "Python": "import config\n\n\ndef main():\n    print(config.load())",
    "JavaScript": 'import { load } from "./config.js";\n\nexport function main() {\n  console.log(load());\n}',
    "Rust": 'mod config;\n\nfn main() {\n    println!("{}", config::load());\n}',
    "Go": "package main\n\nfunc main() {\n\tprintln(load())\n}",
    "Java": "class Main {\n  public static void main(String[] args) {\n    System.out.println(Config.load());\n  }\n}",
}
TESTS = {
    "Python": "from app import main\n\n\ndef test_main_runs():\n    main()",
    "JavaScript": 'import { main } from "../src/app.js";\n\ntest("main runs", () => main());',
    "Rust": "#[test]\nfn main_runs() {\n    assert!(app::load().len() > 0);\n}",
    "Go": "package main\n\nfunc TestMain(t *testing.T) {\n\tmain()\n}",
    "Java": "class MainTest {\n  @Test\n  void mainRuns() {\n    Main.main(new String[0]);\n  }\n}",
}
INSTALL_STEPS = (
    "Download the latest release.",
    "Copy config.toml to your home folder.",
    "Set the port and the language.",
    "Start the program and open it in the browser.",
    "Read the log if it does not start.",
)

LABELS = ("bug", "feature", "documentation", "question")  # every project has these
EXTRA_LABELS = ("urgent", "help wanted", "performance", "design", "security", "testing")
LABEL_COLORS = {
    "bug": "red", "feature": "blue", "documentation": "teal", "question": "purple", "urgent": "orange",
    "help wanted": "green", "performance": "blue", "design": "purple", "security": "red", "testing": "teal",
}  # fmt: skip

COMPONENTS = (
    "Login page", "Search box", "Settings page", "Export button", "Date filter", "Sidebar menu", "Upload form",
    "Error message", "Start screen", "Help page", "Email notice", "Home page", "Import tool", "Print view",
    "Table header", "Progress bar", "Save button", "User list", "Color theme", "Detail view",
)  # fmt: skip
PROBLEMS = (
    "is slow to load", "shows the wrong date", "crashes on old phones", "does not open twice", "loses the last change",
    "ignores the time zone", "fails with long names", "has a broken link", "shows an empty page",
    "does not work offline", "is hard to read", "jumps when scrolling", "forgets the language",
    "fails on a slow network", "covers the footer",
)  # fmt: skip
WISHES = (
    "keyboard shortcuts", "a dark theme", "a search field", "more languages", "an undo button", "a help link",
    "larger icons", "a share link", "a print option", "a loading message", "a keyboard menu", "email alerts",
)  # fmt: skip
TOPICS = (
    "install steps", "build script", "config file", "release process", "test setup", "public functions", "error codes",
    "command line options", "upgrade path", "data format", "backup steps", "plugin system",
)  # fmt: skip
DOCUMENTING = ("Document the", "Update the guide for the", "Explain the", "Add examples for the")
ASKING = ("How do I", "Is it possible to", "What is the best way to")
DOINGS = (
    "change the port", "run the tests on Windows", "use a proxy", "reset the settings", "move the data folder",
    "build from source", "change the license", "turn off the log", "add a new language", "use two accounts",
    "read old files", "deploy to a server",
)  # fmt: skip
CHORES = ("Clean up the", "Speed up the", "Rewrite the", "Write tests for the")
MODULES = (
    "parser", "cache", "database layer", "session code", "file reader", "network client", "job queue", "style sheet",
    "event loop", "log writer",
)  # fmt: skip
# kind of issue -> how it is described, in two parts
DETAILS = {
    "bug": (
        ("I see this with the latest release.", "This started last week.", "It happens every time.",
         "Two of our users told me about this.", "It worked in the last version."),
        ("Restarting does not help.", "The log shows nothing.", "It only happens in one browser.",
         "I can send a screenshot.", "A smaller window makes it worse."),
    ),
    "feature": (
        ("Many people have asked for this.", "This would save me time every day.", "Other tools already have it.",
         "Our class would use it a lot.", "It would make the first steps easier."),
        ("A first version can be simple.", "I can help with the design.", "It should be off by default.",
         "Please keep the page fast.", "I would start with the web version."),
    ),
    "documentation": (
        ("New users get stuck here.", "The text is out of date.", "There is only one line about it."),
        ("A short page would do.", "An example would help most.", "I can write a first draft."),
    ),
    "question": (
        ("I read the guide but found nothing.", "I am new to this project.", "I tried two ways already."),
        ("Thank you for any hint.", "A link would be enough.", "I use the latest release."),
    ),
    "chore": (
        ("This part has grown too large.", "Nobody likes to touch this code.", "It is the oldest part we have."),
        ("No change should be visible.", "The tests must still pass.", "One small step at a time, please."),
    ),
}  # fmt: skip
COMMENTS = (
    ("I can see this too.", "Thanks for the report.", "Good idea.", "I looked at this today.", "Any news on this?",
     "I am not sure about this.", "This is on my list.", "We talked about it in the team."),
    ("It should be easy to do.", "I will start next week.", "Can you add more details?", "Let us wait for the release.",
     "Please test it again.", "I have a first version.", "It needs a second look.", "Maybe we can split it."),
)  # fmt: skip
REVIEWS = (
    ("Looks good to me.", "Nice work.", "Thank you.", "I have one question.", "Almost there.", "I tested it here."),
    ("Please add a test.", "The tests pass.", "Can you rename the file?", "Please update the guide.",
     "I left some notes.", "Ready to merge from my side."),
)  # fmt: skip

VERBS = ("Fix", "Improve", "Simplify", "Test", "Rename", "Remove", "Update", "Move", "Document", "Check")
OBJECTS = (
    "login form", "search index", "export format", "date parser", "cache layer", "error messages", "session timeout",
    "upload limit", "image loader", "menu layout", "color theme", "file watcher", "retry logic", "test data",
    "build script", "release notes", "database schema", "network client", "job queue", "log format", "config reader",
    "unit tests", "style sheet", "help text", "page titles", "user roles", "rate limit", "time zones", "start page",
    "mail sender",
)  # fmt: skip
REASONS = (
    "This makes the code easier to read.", "It was the cause of several bugs.", "The old way was too slow.",
    "We agreed on this in the last meeting.", "This is the first of two steps.", "It closes an old request.",
)  # fmt: skip
CHANGES = ("No settings change.", "The guide is updated too.", "All tests pass.", "Please look at the names.")

JOBS = ("Developer", "Designer", "Teacher", "Student", "Writer", "Tester", "Engineer", "Team Lead")
LOCATIONS = ("Oslo", "Lisbon", "Boston", "Vienna", "Toronto", "Dublin", "Madrid", "Denver", "Prague", "Austin")
BIOS = (
    "I like small tools that do one thing well.", "Open source since school.", "I write more tests than code.",
    "Learning something new every week.", "Fond of maps and trains.", "I fix old software.",
    "Weekend projects, mostly.", "Here to help with the guides.",
)  # fmt: skip
STATUSES = ("Busy", "On holiday", "Working from home", "In a meeting", "Out for lunch", "Looking for reviews", "")
SNIPPETS = {
    "Sort a list of names": ("sort_names.py", "names = sorted(names)\nprint(names)"),
    "Count words in a file": ("count_words.py", "text = open(path).read()\nprint(len(text.split()))"),
    "Rename many files": ("rename.sh", 'for file in *.txt; do\n  mv "$file" "old-$file"\ndone'),
    "Center a box": ("center.css", ".box {\n  margin: 0 auto;\n}"),
    "Read a config file": ("read_config.py", "import tomllib\nprint(tomllib.load(open(path, 'rb')))"),
    "Wait for a key": ("wait.py", 'input("Press Enter to go on")'),
    "Find large files": ("find_large.sh", "find . -size +100M"),
    "Format a date": ("format_date.js", "const text = date.toISOString().slice(0, 10);"),
    "Make a list unique": ("unique.py", "unique = list(dict.fromkeys(items))"),
    "Add up a column": ("add_up.sql", "SELECT SUM(price) FROM orders;"),
    "Print a table": ("print_table.py", 'for row in rows:\n    print("\\t".join(row))'),
    "Dark page colors": ("dark.css", "body {\n  background: black;\n  color: white;\n}"),
    "Retry a request": ("retry.py", "for attempt in range(3):\n    if send():\n        break"),
    "Reverse a string": ("reverse.py", "print(text[::-1])"),
    "Back up a folder": ("backup.sh", "cp -r photos backup"),
    "Newest ten orders": ("newest.sql", "SELECT * FROM orders ORDER BY created DESC LIMIT 10;"),
    "Square numbers": ("squares.js", "const squares = numbers.map((n) => n * n);"),
    "Count lines of code": ("count_lines.sh", "wc -l src/*"),
    "Round to cents": ("round.py", "price = round(price, 2)"),
    "Show a hidden menu": ("menu.js", "menu.hidden = false;"),
}
