import re
from collections.abc import Iterator, Mapping
from html import unescape

import httpx
import pytest
from site_clients import OpenSite, site_clients

from clickgrad.types import Scalar
from clickgrad.worlds import Arena, World
from clickgrad.worlds.code.data import code_data
from clickgrad.worlds.code.rows import Project

DATA = code_data(0)
EMMA = DATA.code_users[0]
STAMP = "2025-03-14 10:00"
HOST = "code.localhost"
JUNK = ("", "-1", "²", "9" * 400, "'; DROP TABLE code_issues;--", "<b>\x00\n", "💥", "2025-02-30", "x" * 5000)


def role(project: Project, user: int = 1) -> str:
    return next((m.role for m in DATA.code_members if (m.project_id, m.user_id) == (project.id, user)), "")


def first_project(*roles: str, visibility: str = "Public") -> Project:
    return next(p for p in DATA.code_projects if role(p) in roles and p.visibility == visibility)


MINE = first_project("Owner")
MANAGED = first_project("Maintainer")
DEVELOPED = first_project("Developer")
FOREIGN = first_project("")
SECRET = first_project("", visibility="Private")
OPEN_ISSUE = next(i for i in DATA.code_issues if i.project_id == MANAGED.id and i.state == "open")
FOREIGN_ISSUE = next(
    i for i in DATA.code_issues if i.project_id == FOREIGN.id and 1 not in (i.author_id, i.assignee_id)
)
REQUEST = next(r for r in DATA.code_merge_requests if r.project_id == MANAGED.id and r.state == "open")
MEMBER = next(m for m in DATA.code_members if m.project_id == MANAGED.id and m.role == "Developer")
OWNER = next(m for m in DATA.code_members if m.project_id == MANAGED.id and m.role == "Owner")
MILESTONE = next(m for m in DATA.code_milestones if m.project_id == MANAGED.id and m.state == "open")
BRANCH = next(b for b in DATA.code_branches if b.project_id == MANAGED.id and b.name != "main")
SNIPPET = next(s for s in DATA.code_snippets if s.author_id == 1)
STRANGER = next(u for u in DATA.code_users if not role(MANAGED, u.id))
ISSUE_PATH = f"{MANAGED.path}/issues/{OPEN_ISSUE.number}"
REQUEST_PATH = f"{MANAGED.path}/merge_requests/{REQUEST.number}"


@pytest.fixture
def open_code(arena: Arena) -> Iterator[OpenSite]:
    with site_clients(arena, "code.localhost") as opened:
        yield opened


@pytest.fixture
def code(world: World, open_code: OpenSite) -> httpx.Client:
    return open_code(world)


@pytest.fixture
def visitor(world: World, open_code: OpenSite) -> httpx.Client:
    """A client who is not logged in."""
    return open_code(world, user=None)


def titles(page: httpx.Response, kind: str = "issues") -> list[str]:
    return [unescape(title) for title in re.findall(rf'<li><a href="[^"]+/{kind}/\d+">([^<]+)</a>', page.text)]


def project_names(page: httpx.Response) -> list[str]:
    return re.findall(r'<li><a href="/[^"]+" class="crumb"[^>]*>([^<]+)</a>', page.text)


def changed(world: World) -> list[tuple[str, str, dict[str, Scalar]]]:
    """(table, what happened, values) of every row that differs from the start."""
    return [(change.table, change.op, dict(change.values)) for change in world.diff()]


# --- what is there --------------------------------------------------------------------------------------------------


def test_the_site_holds_what_a_small_code_host_holds() -> None:
    assert (len(DATA.code_users), len(DATA.code_projects), len(DATA.code_issues)) == (60, 40, 400)
    assert len(DATA.code_merge_requests) == 200
    assert 500 <= len(DATA.code_commits) <= 1000
    assert len({project.name for project in DATA.code_projects}) == 40
    assert len({issue.title for issue in DATA.code_issues}) == 400
    assert {role(project) for project in DATA.code_projects} == {
        "", "Guest", "Reporter", "Developer", "Maintainer", "Owner",
    }  # fmt: skip


def test_issues_are_filtered_sorted_searched_and_paged(code: httpx.Client) -> None:
    path = f"{MANAGED.path}/issues"
    own = [issue for issue in DATA.code_issues if issue.project_id == MANAGED.id]
    newest = sorted(own, key=lambda issue: issue.created, reverse=True)
    opened = [issue.title for issue in newest if issue.state == "open"]
    assert titles(code.get(path)) == opened[:6]
    assert titles(code.get(f"{path}?sort=oldest")) == opened[::-1][:6]
    assert set(titles(code.get(f"{path}?state=closed"))) <= {issue.title for issue in own if issue.state == "closed"}
    dated = sorted(str(issue.due_date) for issue in own if issue.due_date and issue.state == "open")
    first = next(issue.title for issue in own if issue.due_date == dated[0] and issue.state == "open")
    assert titles(code.get(f"{path}?sort=due"))[0] == first
    assert titles(code.get(path, params={"q": OPEN_ISSUE.title.lower()})) == [OPEN_ISSUE.title]
    for page, total in ((code.get(f"{path}?state=all"), len(own)), (code.get(path), len(opened))):
        assert f'<p class="total">{total} issue' in page.text
    seen: list[str] = []
    url = f"{path}?state=all"
    while url:
        page = code.get(url)
        seen += titles(page)
        following = re.search(r'<a href="([^"]+)">Next</a>', page.text)
        url = unescape(following[1]) if following else ""
    assert seen == [issue.title for issue in newest]


def test_lists_are_narrowed_by_label_person_and_milestone(code: httpx.Client) -> None:
    path = f"{MANAGED.path}/issues?state=all"
    own = [issue for issue in DATA.code_issues if issue.project_id == MANAGED.id]
    label = next(label for label in DATA.code_labels if label.project_id == MANAGED.id and label.name == "bug")
    labelled = {item.issue_id for item in DATA.code_issue_labels if item.label_id == label.id}
    usernames = {user.id: user.username for user in DATA.code_users}
    assignee, author = next(issue.assignee_id for issue in own if issue.assignee_id), own[0].author_id
    cases = {
        "label=bug": [issue for issue in own if issue.id in labelled],
        f"assignee={usernames[assignee]}": [issue for issue in own if issue.assignee_id == assignee],
        "assignee=none": [issue for issue in own if issue.assignee_id is None],
        f"author={usernames[author]}": [issue for issue in own if issue.author_id == author],
        f"milestone={MILESTONE.title}": [issue for issue in own if issue.milestone_id == MILESTONE.id],
    }
    for query, expected in cases.items():
        page = code.get(f"{path}&{query}")
        assert set(titles(page)) <= {issue.title for issue in expected}, query
        assert f'<p class="total">{len(expected)} issue' in page.text, query


def test_projects_are_sorted_and_their_stars_counted(code: httpx.Client) -> None:
    page = code.get("/explore?sort=stars")
    numbers = [int(number) for number in re.findall(r", (\d+) stars?, ", page.text)]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == 6
    rows = sum(star.project_id == FOREIGN.id for star in DATA.code_stars)
    assert f"<li>Stars: {FOREIGN.base_stars + rows}</li>" in code.get(FOREIGN.path).text


def test_search_finds_projects_issues_and_users(code: httpx.Client) -> None:
    assert project_names(code.get("/search", params={"q": MANAGED.name.lower()})) == [MANAGED.name]
    assert titles(code.get("/search", params={"q": OPEN_ISSUE.title, "scope": "issues"})) == [OPEN_ISSUE.title]
    assert STRANGER.username in code.get("/search", params={"q": STRANGER.name, "scope": "users"}).text
    assert "No projects found." in code.get("/search?q=unicorn").text


# --- who may do what ------------------------------------------------------------------------------------------------


def test_a_private_project_does_not_exist_for_strangers(code: httpx.Client, visitor: httpx.Client) -> None:
    for path in ("", "/issues", "/members", "/files/README.md", "/commits", "/fork"):
        assert code.get(f"{SECRET.path}{path}").status_code == 404
    assert code.post(f"{SECRET.path}/star").status_code == 404
    assert SECRET.name not in project_names(code.get("/search", params={"q": SECRET.name}))
    own = first_project("Owner", visibility="Private")
    assert code.get(own.path).status_code == 200
    assert visitor.get(own.path).status_code == 404


def test_visitors_are_asked_to_log_in(world: World, visitor: httpx.Client) -> None:
    for path in ("/todo", "/starred", "/projects/new", "/settings/profile", f"{MANAGED.path}/settings"):
        assert visitor.get(path).status_code == 303, path
    assert visitor.post(f"{MANAGED.path}/star").headers["location"].startswith("/login")
    assert visitor.get("/").status_code == visitor.get(MANAGED.path).status_code == 200
    assert world.diff() == ()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"{FOREIGN.path}/settings"),
        ("POST", f"{FOREIGN.path}/settings"),
        ("GET", f"{FOREIGN.path}/members/invite"),
        ("POST", f"{DEVELOPED.path}/members/invite"),
        ("POST", f"{FOREIGN.path}/issues/{FOREIGN_ISSUE.number}/close"),
        ("GET", f"{FOREIGN.path}/issues/{FOREIGN_ISSUE.number}/edit"),
        ("POST", f"{FOREIGN.path}/branches/new"),
        ("POST", f"{FOREIGN.path}/merge_requests/new"),
        ("POST", f"{FOREIGN.path}/milestones/new"),
        ("POST", f"{FOREIGN.path}/labels/new"),
        ("POST", f"{FOREIGN.path}/new_file"),
        ("POST", f"{MANAGED.path}/members/{OWNER.id}/remove"),
        ("POST", f"/snippets/{next(s for s in DATA.code_snippets if s.author_id != 1).id}/delete"),
        ("POST", "/emma.lopez/follow"),
        ("GET", "/groups/harbor-web/invite"),
    ],
)
def test_what_others_own_is_forbidden(world: World, code: httpx.Client, method: str, path: str) -> None:
    assert code.request(method, path).status_code == 403
    assert world.diff() == ()


def test_buttons_are_shown_only_to_those_who_may_use_them(code: httpx.Client) -> None:
    assert ">Settings</a>" in code.get(MANAGED.path).text
    assert ">Settings</a>" not in code.get(DEVELOPED.path).text
    assert "Invite Member" not in code.get(f"{DEVELOPED.path}/members").text
    assert "Close Issue" not in code.get(f"{FOREIGN.path}/issues/{FOREIGN_ISSUE.number}").text


def test_those_who_do_not_plan_a_project_write_only_title_and_text(world: World, code: httpx.Client) -> None:
    form = {"title": "New here", "text": "Hello", "assignee": "emma.lopez", "due_date": "2025-04-01", "label-1": "on"}
    assert code.post(f"{FOREIGN.path}/issues/new", data=form).status_code == 303
    (row,) = changed(world)
    assert row[0] == "code_issues"
    assert (row[2]["title"], row[2]["assignee_id"], row[2]["due_date"]) == ("New here", None, None)


UNKNOWN = ("/nope", "/emma.lopez/nope", f"{MANAGED.path}/nope", f"{MANAGED.path}/issues/0", f"{MANAGED.path}/issues/x")


@pytest.mark.parametrize(
    "path",
    [
        *UNKNOWN,
        f"{MANAGED.path}/issues/99999999999999999999",
        f"{MANAGED.path}/files/none",
        f"{MANAGED.path}/files/",
        f"{MANAGED.path}/commits/ffff",
        f"{MANAGED.path}/members/{DATA.code_members[0].id}",
        f"{MANAGED.path}/milestones/{DATA.code_milestones[-1].id}",
        f"{MANAGED.path}/",
        "/snippets/999",
        "/groups/none/members",
        "/%00",
    ],
)
def test_unknown_addresses_are_not_found(code: httpx.Client, path: str) -> None:
    assert code.get(path).status_code == 404


def test_log_in_and_out_work(visitor: httpx.Client) -> None:
    assert visitor.get("/todo").headers["location"] == "/login?next=%2Ftodo"
    wrong = visitor.post("/login", data={"name": "emma.lopez", "password": "guess"})
    assert (wrong.status_code, "The username or the password is wrong." in wrong.text) == (422, True)
    for name in ("emma.lopez", "Emma.Lopez@Example.com"):
        right = visitor.post("/login", data={"name": name, "password": EMMA.password, "next": "/todo"})
        assert right.headers["location"] == "/todo"
    visitor.headers["cookie"] = right.headers["set-cookie"].partition(";")[0]
    assert "To-Do List" in visitor.get("/todo").text
    visitor.headers["cookie"] = visitor.post("/logout").headers["set-cookie"].partition(";")[0]
    assert visitor.get("/todo").status_code == 303
    evil = {"name": "emma.lopez", "password": EMMA.password, "next": "//evil.example"}
    assert visitor.post("/login", data=evil).headers["location"] == "/"


# --- what forms refuse ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "form", "field", "message"),
    [
        (f"{MANAGED.path}/issues/new", {"title": "  "}, "title", "Enter a title."),
        (f"{MANAGED.path}/issues/new", {"title": "x" * 121}, "title", "Use at most 120 characters."),
        (f"{MANAGED.path}/issues/new", {"title": "A", "due_date": "soon"}, "due_date", "Enter a date such as"),
        (f"{MANAGED.path}/issues/new", {"title": "A", "assignee": "nobody"}, "assignee", "Choose a member"),
        (f"{ISSUE_PATH}/edit", {"title": "A", "milestone": "99999"}, "milestone", "Choose a milestone."),
        (f"{ISSUE_PATH}/comment", {"comment": " "}, "comment", "Write a comment first."),
        (f"{REQUEST_PATH}/comment", {"comment": "x" * 1001}, "comment", "Use at most 1000 characters."),
        (f"{MANAGED.path}/milestones/new", {"title": MILESTONE.title}, "title", "already a milestone"),
        (
            f"{MANAGED.path}/milestones/new",
            {"title": "A", "start_date": "2025-05-01", "due_date": "2025-04-01"},
            "due_date",
            "must not be before",
        ),
        (f"{MANAGED.path}/labels/new", {"name": "bug", "color": "Red"}, "name", "already a label"),
        (f"{MANAGED.path}/branches/new", {"name": "a b", "source": "main"}, "name", "Use letters, digits"),
        (f"{MANAGED.path}/branches/new", {"name": "main", "source": "main"}, "name", "already a branch"),
        (f"{MANAGED.path}/branches/new", {"name": "a", "source": "none"}, "source", "Choose a branch."),
        (f"{MANAGED.path}/members/invite", {"user": "no.one", "role": "Guest"}, "user", "There is no user no.one."),
        (f"{MANAGED.path}/members/invite", {"user": "emma.lopez", "role": "Guest"}, "user", "already a member"),
        (f"{MANAGED.path}/members/invite", {"user": STRANGER.email, "role": "Owner"}, "role", "Choose a role."),
        (f"{MANAGED.path}/members/{MEMBER.id}", {"role": "King"}, "role", "Choose a role."),
        (f"{MANAGED.path}/settings", {"name": "", "visibility": "Public"}, "name", "Enter a name."),
        (f"{MANAGED.path}/settings", {"name": "A", "visibility": "Open"}, "visibility", "Choose who can see"),
        (f"{MANAGED.path}/merge_requests/new", {"title": "A", "source": "x", "target": "main"}, "source", "Choose"),
        (f"{MANAGED.path}/new_file", {"path": "../a", "message": "A"}, "path", "Use letters, digits"),
        (f"{MANAGED.path}/new_file", {"path": "README.md", "message": "A"}, "path", "already a file"),
        (f"{MANAGED.path}/edit/README.md", {"content": "A", "message": ""}, "message", "Enter a commit message."),
        (f"{MINE.path}/fork", {"name": MINE.name}, "name", "already has a project"),
        ("/projects/new", {"namespace": "harbor-web", "name": "A"}, "namespace", "Choose a namespace."),
        ("/projects/new", {"namespace": "emma.lopez", "name": "???"}, "name", "Use letters or digits."),
        ("/groups/new", {"name": "Harbor Web", "visibility": "Public"}, "name", "already a group"),
        ("/groups/new", {"name": "Login", "visibility": "Public"}, "name", "already a group"),
        ("/snippets/new", {"title": "A", "file_name": "a b", "content": "c"}, "file_name", "Use letters, digits"),
        ("/settings/profile", {"status": "x" * 81}, "status", "Use at most 80 characters."),
    ],
)
def test_a_bad_form_is_told_beside_the_field_and_nothing_is_saved(
    world: World, code: httpx.Client, path: str, form: Mapping[str, str], field: str, message: str
) -> None:
    page = code.post(path, data=form)
    assert page.status_code == 422
    told = re.search(rf'<p class="error" id="{field}-error" role="alert">([^<]*)</p>', page.text)
    assert told
    assert message in unescape(told[1])
    assert f'aria-describedby="{field}-error"' in page.text
    assert world.diff() == ()


# --- what forms change ----------------------------------------------------------------------------------------------


def test_starring_and_unstarring_touch_one_row(world: World, code: httpx.Client) -> None:
    starred = {star.project_id for star in DATA.code_stars if star.user_id == 1}
    project = next(project for project in DATA.code_projects if role(project) and project.id not in starred)
    for _ in range(2):
        code.post(f"{project.path}/star")
    assert [(table, op) for table, op, _ in changed(world)] == [("code_stars", "insert")]
    code.post(f"{project.path}/unstar")
    assert world.diff() == ()


def test_an_issue_is_created_changed_commented_closed_and_reopened(world: World, code: httpx.Client) -> None:
    form = {"title": "A <b>new</b> one", "assignee": "emma.lopez", "due_date": "2025-05-01", "label-2": "on"}
    made = code.post(f"{MANAGED.path}/issues/new", data=form, follow_redirects=True)
    assert "A &lt;b&gt;new&lt;/b&gt; one" in made.text
    rows = {table: values for table, _, values in changed(world)}
    label = [label for label in DATA.code_labels if label.project_id == MANAGED.id][1]
    assert rows.keys() == {"code_issues", "code_issue_labels"}
    assert rows["code_issues"]["assignee_id"] == 1
    assert rows["code_issue_labels"] == {"id": len(DATA.code_issue_labels) + 1, "issue_id": 401, "label_id": label.id}
    path = f"{MANAGED.path}/issues/{rows['code_issues']['number']}"
    code.post(f"{path}/comment", data={"comment": "First"})
    code.post(f"{path}/edit", data={"title": "Changed"})
    code.post(f"{path}/close")
    after = {table: values for table, _, values in changed(world)}
    assert after.keys() == {"code_issues", "code_comments"}
    assert (after["code_issues"]["title"], after["code_issues"]["assignee_id"]) == ("Changed", None)
    assert (after["code_issues"]["state"], after["code_issues"]["closed"]) == ("closed", STAMP)
    assert (after["code_comments"]["issue_id"], after["code_comments"]["text"]) == (401, "First")
    code.post(f"{path}/reopen")
    assert world.query("SELECT state, closed FROM code_issues WHERE id = 401") == (("open", None),)


def test_saving_an_issue_unchanged_changes_nothing(world: World, code: httpx.Client) -> None:
    page = code.get(f"{ISSUE_PATH}/edit").text
    form = dict(re.findall(r'<input id="(\w+)"[^>]* value="([^"]*)"', page))
    form |= {name: unescape(text) for name, text in re.findall(r'<textarea id="(\w+)"[^>]*>\n([^<]*)', page)}
    form |= dict.fromkeys(re.findall(r'name="(label-\d+)" checked', page), "on")
    for name, options in re.findall(r'<select id="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        form[name] = (re.findall(r'value="([^"]*)" selected', options) or [""])[0]
    assert code.post(f"{ISSUE_PATH}/edit", data=form).status_code == 303
    assert world.diff() == ()


def test_merging_brings_the_commits_to_main_and_changes_one_row(world: World, code: httpx.Client) -> None:
    def commits() -> int:
        found = re.search(r"<li>Commits: (\d+)</li>", code.get(MANAGED.path).text)
        assert found
        return int(found[1])

    before = commits()
    on_branch = [c for c in DATA.code_commits if (c.project_id, c.branch) == (MANAGED.id, REQUEST.source_branch)]
    code.post(f"{REQUEST_PATH}/merge")
    assert changed(world) == [("code_merge_requests", "update", {"state": "merged", "closed": STAMP})]
    assert commits() == before + len(on_branch)
    assert code.post(f"{REQUEST_PATH}/merge").status_code == 409
    assert code.post(f"{REQUEST_PATH}/reopen").status_code == 409


@pytest.mark.parametrize(
    ("path", "form", "expected"),
    [
        (
            f"{MANAGED.path}/members/invite",
            {"user": STRANGER.username, "role": "Reporter"},
            ("code_members", "insert", {"user_id": STRANGER.id, "role": "Reporter", "since": "2025-03-14"}),
        ),
        (f"{MANAGED.path}/members/{MEMBER.id}", {"role": "Guest"}, ("code_members", "update", {"role": "Guest"})),
        (f"{MANAGED.path}/members/{MEMBER.id}/remove", {}, ("code_members", "delete", {"id": MEMBER.id})),
        (
            f"{MANAGED.path}/milestones/new",
            {"title": "Autumn", "start_date": "2025-09-01", "due_date": "2025-11-30"},
            ("code_milestones", "insert", {"title": "Autumn", "state": "open", "due_date": "2025-11-30"}),
        ),
        (f"{MANAGED.path}/milestones/{MILESTONE.id}/close", {}, ("code_milestones", "update", {"state": "closed"})),
        (f"{MANAGED.path}/labels/new", {"name": "a", "color": "Red"}, ("code_labels", "insert", {"color": "red"})),
        (
            f"{MANAGED.path}/branches/new",
            {"name": "fresh", "source": "main"},
            ("code_branches", "insert", {"name": "fresh", "source": "main"}),
        ),
        (f"{MANAGED.path}/branches/{BRANCH.id}/delete", {}, ("code_branches", "delete", {"id": BRANCH.id})),
        (f"{REQUEST_PATH}/comment", {"comment": "Fine"}, ("code_comments", "insert", {"text": "Fine", "author_id": 1})),
        (f"{REQUEST_PATH}/close", {}, ("code_merge_requests", "update", {"state": "closed", "closed": STAMP})),
        (
            f"{MANAGED.path}/merge_requests/new",
            {"title": "T", "source": BRANCH.name, "target": "main", "reviewer": "emma.lopez"},
            ("code_merge_requests", "insert", {"source_branch": BRANCH.name, "reviewer_id": 1, "assignee_id": None}),
        ),
        (
            f"{MANAGED.path}/settings",
            {"name": MANAGED.name, "description": "D", "visibility": "Private", "topics": MANAGED.topics},
            ("code_projects", "update", {"description": "D", "visibility": "Private"}),
        ),
        (
            "/settings/profile",
            {"status": "Here", "job": EMMA.job, "location": EMMA.location, "bio": EMMA.bio},
            ("code_users", "update", {"status": "Here"}),
        ),
        (f"/{STRANGER.username}/follow", {}, ("code_follows", "insert", {"follower_id": 1, "user_id": STRANGER.id})),
        (
            "/snippets/new",
            {"title": "T", "file_name": "t.py", "content": "a\r\nb", "visibility": "Public"},
            ("code_snippets", "insert", {"content": "a\nb", "author_id": 1}),
        ),
        (f"/snippets/{SNIPPET.id}/delete", {}, ("code_snippets", "delete", {"id": SNIPPET.id})),
    ],
)
def test_a_good_form_changes_exactly_one_row(
    world: World, code: httpx.Client, path: str, form: Mapping[str, str], expected: tuple[str, str, dict[str, Scalar]]
) -> None:
    assert code.post(path, data=form).status_code == 303
    ((table, op, values),) = changed(world)
    assert (table, op) == expected[:2]
    if op == "update":
        assert values == expected[2]
    assert values.items() >= expected[2].items()


def test_a_project_is_made_with_its_owner_and_its_readme(world: World, code: httpx.Client) -> None:
    form = {"namespace": "emma.lopez", "name": "Night Sky", "visibility": "Public", "language": "Go", "license": ""}
    assert code.post("/projects/new", data=form).headers["location"] == "/emma.lopez/night-sky"
    assert [(table, op) for table, op, _ in changed(world)] == [("code_members", "insert"), ("code_projects", "insert")]
    assert "The repository is empty." in code.get("/emma.lopez/night-sky").text
    code.post("/projects/new", data=form | {"name": "Day Sky", "readme": "on"})
    tables = [table for table, _, _ in changed(world)]
    assert {table: tables.count(table) for table in tables} == {
        "code_branches": 1, "code_commits": 1, "code_files": 1, "code_members": 2, "code_projects": 2,
    }  # fmt: skip
    code.post("/emma.lopez/night-sky/new_file", data={"path": "docs/a.md", "content": "Hi", "message": "Start"})
    page = code.get("/emma.lopez/night-sky").text
    assert "Latest commit: Start by Emma Lopez on March 14, 2025" in page
    assert "/files/docs" in page
    assert "a.md" in code.get("/emma.lopez/night-sky/files/docs").text


def test_a_fork_copies_files_and_the_commits_of_main(world: World, code: httpx.Client) -> None:
    assert code.post(f"{FOREIGN.path}/fork", data={"name": FOREIGN.name}).status_code == 303
    tables = [table for table, _, _ in changed(world)]
    commits = [c for c in DATA.code_commits if (c.project_id, c.branch) == (FOREIGN.id, "main")]
    assert tables.count("code_commits") == len(commits)
    assert tables.count("code_files") == 9
    assert (tables.count("code_projects"), tables.count("code_members"), tables.count("code_branches")) == (1, 1, 1)
    page = code.get(f"/emma.lopez/{FOREIGN.slug}").text
    assert f"<li>Forked from: {FOREIGN.namespace}/{FOREIGN.slug}</li>" in page
    assert f"<li>Commits: {len(commits)}</li>" in page
    assert f"<li>Forks: {FOREIGN.base_forks + 1}</li>" in code.get(FOREIGN.path).text


def test_a_group_is_made_and_gets_members_and_projects(world: World, code: httpx.Client) -> None:
    code.post("/groups/new", data={"name": "Blue Owls", "visibility": "Private"})
    code.post("/groups/blue-owls/invite", data={"user": STRANGER.username, "role": "Developer"})
    assert "2 members" in code.get("/groups/blue-owls/members").text
    code.post("/projects/new", data={"namespace": "blue-owls", "name": "A", "visibility": "Public", "language": "Go"})
    assert project_names(code.get("/blue-owls")) == ["A"]
    tables = [table for table, _, _ in changed(world)]
    assert tables == ["code_group_members", "code_group_members", "code_groups", "code_members", "code_projects"]


# --- the same history, the same bytes; junk --------------------------------------------------------------------------

PAGES = (
    "/", "/explore?sort=stars", "/starred", "/search?q=app", "/todo", "/todo/merge_requests", "/todo/reviews",
    "/snippets", f"/snippets/{SNIPPET.id}", "/groups", "/harbor-web", "/groups/harbor-web/members", "/emma.lopez",
    "/settings/profile", MANAGED.path, ISSUE_PATH, f"{ISSUE_PATH}/edit", REQUEST_PATH, f"{REQUEST_PATH}/edit",
    *(f"{MANAGED.path}/{page}" for page in (
        "issues", "issues/new", "board", "milestones", "milestones/new", f"milestones/{MILESTONE.id}", "labels",
        "labels/new", "merge_requests", "merge_requests/new", "commits", "contributors", "branches", "branches/new",
        "members", "members/invite", f"members/{MEMBER.id}", "settings", "fork", "files/src", "files/README.md",
        "new_file", "edit/README.md",
    )),
)  # fmt: skip


def test_equal_histories_give_equal_bytes(arena: Arena, open_code: OpenSite) -> None:
    def history() -> tuple[list[bytes], str]:
        world = arena.fork()
        client = open_code(world)
        client.post(f"{FOREIGN.path}/fork", data={"name": FOREIGN.name})
        client.post(f"{ISSUE_PATH}/comment", data={"comment": "Again"})
        client.post(f"{MANAGED.path}/new_file", data={"path": "a.md", "content": "A", "message": "Add a"})
        pages = [client.get(path).content for path in (*PAGES, f"/emma.lopez/{FOREIGN.slug}")]
        digest = world.hash()
        world.close()
        return pages, digest

    assert history() == history()


def test_looking_changes_nothing_and_every_control_has_a_name(world: World, code: httpx.Client) -> None:
    for path in PAGES:
        page = code.get(path)
        assert page.status_code == 200, path
        labels = set(re.findall(r'<label for="([^"]+)"', page.text))
        for tag in re.findall(r"<(?:input|select|textarea)\b[^>]*>", page.text):
            named = re.search(r'id="([^"]+)"', tag)
            assert 'type="hidden"' in tag or "aria-label=" in tag or (named and named[1] in labels), (path, tag)
    assert world.diff() == ()


def test_pages_stay_short_enough_to_read(code: httpx.Client) -> None:
    for path in PAGES:
        text = re.sub(r"<[^>]+>", " ", code.get(path).text.partition("<body>")[2])
        assert len(" ".join(text.split())) <= 1150, path


@pytest.mark.parametrize("junk", JUNK)
def test_junk_in_the_address_never_breaks_a_list(code: httpx.Client, junk: str) -> None:
    names = ("q", "state", "label", "assignee", "author", "milestone", "sort", "page", "scope", "branch", "language")
    for path in ("/explore", "/search", "/todo", "/todo/reviews", "/snippets", f"{MANAGED.path}/issues"):
        assert code.get(path, params=dict.fromkeys(names, junk)).status_code == 200
    for path in ("merge_requests", "commits", "branches", "members", "merge_requests/new"):
        assert code.get(f"{MANAGED.path}/{path}", params=dict.fromkeys((*names, "source"), junk)).status_code == 200


def test_junk_in_any_form_gives_no_server_error(code: httpx.Client) -> None:
    fields: dict[str, set[str]] = {}
    for path in PAGES:
        for attributes, body in re.findall(r"<form\b([^>]*)>(.*?)</form>", code.get(path).text, re.DOTALL):
            target = re.search(r'action="([^"]*)"', attributes)
            if 'method="post"' in attributes and "/logout" not in attributes:
                fields.setdefault(target[1] if target else path, set()).update(re.findall(r'name="([^"]+)"', body))
    assert len(fields) > 25
    for action, names in fields.items():
        for junk in JUNK:
            assert code.post(action, data=dict.fromkeys(names, junk)).status_code < 500, (action, junk)
        assert code.post(action).status_code < 500, action
