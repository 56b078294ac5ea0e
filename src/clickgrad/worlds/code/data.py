"""What the code site holds at the start, as plain values: the seed decides all of it. Tasks are written from these."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from itertools import cycle

from clickgrad.worlds.code import words
from clickgrad.worlds.code.data_planning import add_issues, add_labels, add_merge_requests, add_milestones
from clickgrad.worlds.code.data_repository import add_branches, add_commits, add_files
from clickgrad.worlds.code.rows import (
    Branch,
    CodeData,
    Comment,
    Commit,
    File,
    Follow,
    Group,
    GroupMember,
    Issue,
    IssueLabel,
    Label,
    Member,
    MergeRequest,
    Milestone,
    Project,
    Shelf,
    Snippet,
    Star,
    User,
)
from clickgrad.worlds.people import people
from clickgrad.worlds.site import NOW

USERS = 60
ISSUES = 400
MERGE_REQUESTS = 200
OWN_PROJECTS = 5  # of the default user
GROUP_PROJECTS = 4  # of each group
# What the default user is in the projects of others, in turn.
DEFAULT_USER_ROLES = ("Maintainer", "Developer", "", "Maintainer", "", "Reporter", "Maintainer", "", "Guest", "")
TEAM = ("Maintainer", "Developer", "Developer", "Developer", "Reporter", "Guest")
# One project in so many, and what it is; the others are public.
HIDDEN = {2: "Private", 5: "Internal"}
HIDDEN_EVERY = 7


@cache
def code_data(seed: int) -> CodeData:
    rng, shelf = random.Random(f"code {seed}"), Shelf()
    _add_users(shelf, rng, seed)
    _add_groups(shelf, rng)
    _add_projects(shelf, rng)
    _add_teams(shelf, rng)
    _add_snippets(shelf, rng)
    titles, names = _issue_titles(rng), _request_titles(rng)
    shares = zip(shelf.rows(Project), _shares(rng, ISSUES, 6), _shares(rng, MERGE_REQUESTS, 3), strict=True)
    for project, issues, requests in shares:
        team = [member for member in shelf.rows(Member) if member.project_id == project.id]
        add_labels(shelf, rng, project)
        add_milestones(shelf, rng, project)
        add_issues(shelf, rng, project, team, [titles.pop() for _ in range(issues)])
        add_merge_requests(shelf, rng, project, team, [names.pop() for _ in range(requests)])
        add_branches(shelf, rng, project)
        add_files(shelf, rng, project)
        add_commits(shelf, rng, project, team)
    return CodeData(
        code_users=shelf.rows(User),
        code_groups=shelf.rows(Group),
        code_group_members=shelf.rows(GroupMember),
        code_projects=shelf.rows(Project),
        code_members=shelf.rows(Member),
        code_stars=shelf.rows(Star),
        code_follows=shelf.rows(Follow),
        code_branches=shelf.rows(Branch),
        code_files=shelf.rows(File),
        code_commits=shelf.rows(Commit),
        code_labels=shelf.rows(Label),
        code_milestones=shelf.rows(Milestone),
        code_issues=shelf.rows(Issue),
        code_issue_labels=shelf.rows(IssueLabel),
        code_merge_requests=shelf.rows(MergeRequest),
        code_comments=shelf.rows(Comment),
        code_snippets=shelf.rows(Snippet),
    )


def _day(rng: random.Random, first: int, last: int) -> str:
    """A day between so many days ago."""
    return (NOW.date() - timedelta(days=rng.randint(first, last))).isoformat()


def _shares(rng: random.Random, total: int, least: int) -> list[int]:
    """So many for each project, at least `least`, `total` together."""
    count = len(words.PROJECTS)
    extra = Counter(rng.choices(range(count), k=total - least * count))
    return [least + extra[index] for index in range(count)]


def _add_users(shelf: Shelf, rng: random.Random, seed: int) -> None:
    for person in people(seed)[:USERS]:
        shelf.add(
            User, person.name, person.username, person.email, person.password, rng.choice(words.JOBS),
            rng.choice(words.LOCATIONS), rng.choice(words.BIOS), rng.choice(words.STATUSES), _day(rng, 300, 1500),
        )  # fmt: skip
    for user in range(1, USERS + 1):
        others = [other for other in range(1, USERS + 1) if other != user]
        for other in sorted(rng.sample(others, rng.randint(0, 4))):
            shelf.add(Follow, user, other)


def _add_groups(shelf: Shelf, rng: random.Random) -> None:
    for path, (name, description) in words.GROUPS.items():
        group = shelf.add(Group, path, name, description, "Public", _day(rng, 400, 900))
        owner = group.id + 1  # users 2 to 6
        others = [user for user in range(1, USERS + 1) if user != owner]
        for user, role in zip([owner, *rng.sample(others, 5)], ("Owner", *TEAM[:5]), strict=True):
            shelf.add(GroupMember, group.id, user, role)


def _add_projects(shelf: Shelf, rng: random.Random) -> None:
    names = rng.sample(sorted(words.PROJECTS), len(words.PROJECTS))
    users = shelf.rows(User)
    solo = len(names) - OWN_PROJECTS - GROUP_PROJECTS * len(words.GROUPS)
    namespaces = [users[0].username] * OWN_PROJECTS + [path for path in words.GROUPS for _ in range(GROUP_PROJECTS)]
    namespaces += [user.username for user in rng.sample(users[1:], solo)]
    starred = _add_stars(shelf, rng, len(names))
    # No two projects have the same number of stars or forks, nor one that a single star would make the same.
    stars = rng.sample(range(20, 900, 7), len(names))
    forks = rng.sample(range(3, 250, 3), len(names))
    for index, (name, namespace) in enumerate(zip(names, namespaces, strict=True)):
        description, topics = words.PROJECTS[name]
        shelf.add(
            Project, namespace, name.lower().replace(" ", "-"), name, description,
            HIDDEN.get(index % HIDDEN_EVERY, "Public"), rng.choice(tuple(words.LANGUAGES)), rng.choice(words.LICENSES),
            topics, stars[index] - starred[index + 1], forks[index], None, _day(rng, 200, 700),
        )  # fmt: skip


def _add_stars(shelf: Shelf, rng: random.Random, projects: int) -> Counter[int]:
    """Rows of users who starred a project: how many each has."""
    counts: Counter[int] = Counter()
    for user in range(1, USERS + 1):
        for project in sorted(rng.sample(range(1, projects + 1), 5 if user == 1 else rng.randint(0, 4))):
            shelf.add(Star, project, user)
            counts[project] += 1
    return counts


def _add_teams(shelf: Shelf, rng: random.Random) -> None:
    usernames = {user.username: user.id for user in shelf.rows(User)}
    owners = {group.path: group.id + 1 for group in shelf.rows(Group)} | usernames
    default_roles = cycle(DEFAULT_USER_ROLES)
    for project in shelf.rows(Project):
        owner = owners[project.namespace]
        team = {owner: "Owner"}
        if owner != 1 and (role := next(default_roles)):
            team[1] = role
        strangers = [user for user in range(2, USERS + 1) if user not in team]
        roles = TEAM[: rng.randint(4, 6)]
        team |= dict(zip(rng.sample(strangers, len(roles)), roles, strict=True))
        for user, role in team.items():
            since = _day(rng, 30, 180) if user != owner else project.created
            shelf.add(Member, project.id, user, role, since)


def _add_snippets(shelf: Shelf, rng: random.Random) -> None:
    titles = rng.sample(sorted(words.SNIPPETS), len(words.SNIPPETS))
    for index, title in enumerate(titles):
        author = 1 if index % 5 == 0 else rng.randint(2, USERS)
        visibility = "Private" if index % 10 == 5 else "Public"
        file_name, content = words.SNIPPETS[title]
        shelf.add(Snippet, author, title, file_name, content, visibility, f"{_day(rng, 2, 200)} 09:{index:02d}")


def _issue_titles(rng: random.Random) -> list[tuple[str, str]]:
    """(kind, title), no title twice."""
    lower = [component.lower() for component in words.COMPONENTS]
    kinds: dict[str, Sequence[str]] = {
        "bug": [f"{component} {problem}" for component in words.COMPONENTS for problem in words.PROBLEMS],
        "feature": [f"Add {wish} to the {component}" for wish in words.WISHES for component in lower],
        "documentation": [f"{verb} {topic}" for verb in words.DOCUMENTING for topic in words.TOPICS],
        "question": [f"{asking} {doing}?" for asking in words.ASKING for doing in words.DOINGS],
        "chore": [f"{chore} {module}" for chore in words.CHORES for module in words.MODULES],
    }
    counts = {"bug": 160, "feature": 140, "documentation": 40, "question": 30, "chore": 30}
    titles = [(kind, title) for kind, count in counts.items() for title in rng.sample(kinds[kind], count)]
    return rng.sample(titles, len(titles))


def _request_titles(rng: random.Random) -> list[str]:
    titles = [f"{verb} the {thing}" for verb in words.VERBS for thing in words.OBJECTS]
    return rng.sample(titles, MERGE_REQUESTS)
