"""Templates that manage a project: its members, its merge requests, its settings."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import cycle

from clickgrad.tasks.code.ground import CODERS, EMMA, MANAGERS, Ground, alternate, ground, listing, sets_of, task
from clickgrad.tasks.code.running import INVITED_AS, Teams
from clickgrad.tasks.code.writing import insert, update
from clickgrad.tasks.templates import Draft
from clickgrad.types import RowChange, StateCheck
from clickgrad.worlds.code.pages import STAMP, TODAY
from clickgrad.worlds.code.rows import MergeRequest, Project
from clickgrad.worlds.people import DEFAULT_USER

# --- members --------------------------------------------------------------------------------------------------------


def manage_members(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.manage_members {seed}")
    teams = land.teams(rng, MANAGERS)
    return alternate(
        _change_here(land, rng, teams),
        alternate(_invite_one(land, rng, teams[1:]), _change_from_project(land, rng, teams[3:])),
        _several(land, rng, teams[2:]),
    )


def _invited(land: Ground, project: Project, person: int, role: str) -> RowChange:
    return insert("code_members", project_id=project.id, user_id=person, role=role, since=TODAY)


def _others(land: Ground, project: Project, user: int) -> list[int]:
    """Those whose membership the user can change."""
    return [person for person in land.members(project, INVITED_AS) if person != user]


def _membership(land: Ground, project: Project, person: int) -> int:
    return next(m.id for m in land.data.code_members if (m.project_id, m.user_id) == (project.id, person))


def _another_role(land: Ground, rng: random.Random, project: Project, person: int) -> str:
    return rng.choice([role for role in INVITED_AS if role != land.role(project, person)])


def _change_here(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    """A role on the member's page, or out with somebody on the list."""
    for index, (project, user) in enumerate(teams):
        person = rng.choice(_others(land, project, user))
        id_, name = _membership(land, project, person), land.name(person)
        if index % 2:
            change = RowChange("code_members", "delete", (("id", id_), ("user_id", person)))
            yield task(
                f"Remove {name} from the members of {project.name}.",
                f"{project.path}/members",
                (StateCheck((change,)),),
                3,
                land.user(user).email,
                kind="remove",
                project=project.name,
                people=name,
            )
        else:
            role = _another_role(land, rng, project, person)
            yield task(
                f"Change the role of {name} to {role}.",
                f"{project.path}/members/{id_}",
                (StateCheck((update("code_members", id_, role=role),)),),
                3,
                land.user(user).email,
                kind="change",
                project=project.name,
                people=f"{name}:{role}",
            )


def _invite_one(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    for index, (project, user) in enumerate(teams):
        person, role = rng.choice(land.strangers(project)), INVITED_AS[1 + index % 3]
        from_form = index % 2 == 0
        username = land.user(person).username
        yield task(
            f"Invite {username} to {project.name} as {role}.",
            f"{project.path}/members/invite" if from_form else project.path,
            (StateCheck((_invited(land, project, person, role),)),),
            4 if from_form else 6,
            land.user(user).email,
            kind="invite",
            project=project.name,
            people=f"{username}:{role}",
        )


def _several(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    """Invite three or four people, or change two roles."""
    for index, (project, user) in enumerate(teams):
        if index % 3 == 2:
            others = _others(land, project, user)
            changed = [(person, _another_role(land, rng, project, person)) for person in rng.sample(others, 2)]
            changes = [update("code_members", _membership(land, project, p), role=role) for p, role in changed]
            said = " and ".join(f"the role of {land.name(person)} to {role}" for person, role in changed)
            people = "|".join(f"{land.name(person)}:{role}" for person, role in changed)
            yield task(
                f"Change {said} in {project.name}.",
                project.path,
                (StateCheck(tuple(changes)),),
                8,
                land.user(user).email,
                kind="change",
                project=project.name,
                people=people,
            )
            continue
        size = 3 + index % 3
        invited = [(person, rng.choice(INVITED_AS[1:])) for person in rng.sample(land.strangers(project), size)]
        names = [f"{land.user(person).username} as {role}" for person, role in invited]
        yield task(
            f"Invite to {project.name}: {listing(names)}.",
            project.path,
            (StateCheck(tuple(_invited(land, project, *pair) for pair in invited)),),
            1 + 4 * size + 1,
            land.user(user).email,
            kind="invite",
            project=project.name,
            people="|".join(f"{land.user(person).username}:{role}" for person, role in invited),
        )


def _change_from_project(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    for project, user in teams:
        person = rng.choice(_others(land, project, user))
        role = _another_role(land, rng, project, person)
        change = update("code_members", _membership(land, project, person), role=role)
        yield task(
            f"Make {land.name(person)} a {role} of {project.name}.",
            project.path,
            (StateCheck((change,)),),
            5,
            land.user(user).email,
            kind="change",
            project=project.name,
            people=f"{land.name(person)}:{role}",
        )


# --- merge requests -------------------------------------------------------------------------------------------------


def merge_requests(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.merge_requests {seed}")
    teams = [team for team in land.teams(rng, CODERS) if land.requests(team[0])]
    return alternate(
        _settle_one(land, rng, teams),
        alternate(_set_person(land, rng, teams[1:]), _reopen(land, rng, teams)),
        alternate(_settle_several(land, rng, teams[::-1]), _comment_and_merge(land, rng, teams[2:])),
    )


def _merged(request: MergeRequest) -> RowChange:
    return update("code_merge_requests", request.id, state="merged", closed=STAMP)


def _closed(request: MergeRequest) -> RowChange:
    return update("code_merge_requests", request.id, state="closed", closed=STAMP)


def _settle_one(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    for index, (project, user) in enumerate(teams):
        request = rng.choice(land.requests(project)[:6])
        merging, here = index % 2 == 0, index % 3 == 0
        verb = "Merge" if merging else "Close"
        yield task(
            f"{verb} this merge request." if here else f'{verb} the merge request "{request.title}".',
            f"{project.path}/merge_requests" + (f"/{request.number}" if here else ""),
            (StateCheck((_merged(request) if merging else _closed(request),)),),
            2 if here else 3,
            land.user(user).email,
            project=project.name,
            titles=request.title,
            button="Merge" if merging else "Close Merge Request",
        )


def _set_person(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    for index, (project, user) in enumerate(teams):
        request = rng.choice(land.requests(project)[:6])
        setting = ("reviewer", "assignee")[index % 2]
        now = request.reviewer_id if setting == "reviewer" else request.assignee_id
        person = rng.choice([person for person in land.members(project, CODERS) if person != now])
        change = update("code_merge_requests", request.id, **{f"{setting}_id": person})
        from_list = index % 3 == 0
        yield task(
            f'Make {land.name(person)} the {setting} of the merge request "{request.title}" of {project.name}.',
            f"{project.path}/merge_requests" if from_list else project.path,
            (StateCheck((change,)),),
            5 if from_list else 6,
            land.user(user).email,
            project=project.name,
            titles=request.title,
            setting=setting.capitalize(),
            person=land.name(person),
        )


def _settle_several(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    for index, (project, user) in enumerate(teams):
        requests, size = land.requests(project)[:6], 2 + index % 2
        if len(requests) < size:
            continue
        chosen = rng.sample(requests, size)
        verb, settled = ("Merge", _merged) if index % 3 else ("Close", _closed)
        titles = [f'"{request.title}"' for request in chosen]
        yield task(
            f"{verb} the merge requests {listing(titles)} of {project.name}.",
            "/",
            (StateCheck(tuple(map(settled, chosen))),),
            land.to_project(project, user) + 3 * size + 1,
            land.user(user).email,
            project=project.name,
            titles="|".join(request.title for request in chosen),
            button="Merge" if verb == "Merge" else "Close Merge Request",
        )


def _reopen(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    for project, user in teams:
        closed = land.requests(project, "closed")
        if not closed:
            continue
        request = rng.choice(closed)
        change = update("code_merge_requests", request.id, state="open", closed=None)
        yield task(
            f'Reopen the closed merge request "{request.title}" of {project.name}.',
            "/",
            (StateCheck((change,)),),
            land.to_project(project, user) + 6,
            land.user(user).email,
            project=project.name,
            titles=request.title,
            button="Reopen Merge Request",
            state="Closed",
        )


_VERDICTS = ("Looks good to me", "Nice work", "All tests pass here", "Ready for the release", "Thank you for this")


def _comment_and_merge(land: Ground, rng: random.Random, teams: Teams) -> Iterator[Draft]:
    for project, user in teams:
        requests, text = land.requests(project)[:6], rng.choice(_VERDICTS)
        if len(requests) < 2:
            continue
        chosen = rng.sample(requests, 2)
        changes = [
            insert("code_comments", issue_id=None, merge_request_id=request.id, author_id=user, text=text)
            for request in chosen
        ]
        one, other = (request.title for request in chosen)
        yield task(
            f'Comment "{text}" on the merge requests "{one}" and "{other}" of {project.name}, and merge both.',
            "/",
            (StateCheck((*changes, *map(_merged, chosen))),),
            land.to_project(project, user) + 2 * 5 + 1,
            land.user(user).email,
            project=project.name,
            titles=f"{one}|{other}",
            text=text,
            button="Merge",
        )


# --- settings -------------------------------------------------------------------------------------------------------

_DESCRIPTIONS = (
    "Now also for tablets", "Made for small teams", "Works without a network", "The second edition", "Fast and simple",
    "Free for schools", "Looking for helpers", "Soon in ten languages", "Rebuilt from the ground up", "Easy to extend",
    "Tested on old machines", "Used in three cities",
)  # fmt: skip
_TOPICS = ("games", "science", "history", "sports", "weather", "art", "language", "robots")


def project_settings(seed: int) -> Iterator[Draft]:
    land, rng = ground(seed), random.Random(f"code.project_settings {seed}")
    teams = land.teams(rng, MANAGERS)
    return alternate(
        _settings(land, rng, teams[::3], "settings", ("description", "visibility", "topics")),
        _settings(land, rng, teams[1::3], "project", ("description visibility", "topics visibility")),
        alternate(
            _settings(land, rng, teams[2::3], "home", ("name description visibility topics",)),
            _same_visibility(land, rng),
        ),
    )


def _same_visibility(land: Ground, rng: random.Random) -> Iterator[Draft]:
    """Of several projects of the default user."""
    own = land.with_role(EMMA, MANAGERS)
    for sample, size, visibility in zip(
        sets_of(rng, own, 3), cycle((2, 3)), cycle(("Private", "Internal", "Public")), strict=False
    ):
        chosen = sample[:size]
        if any(project.visibility == visibility for project in chosen):
            continue
        names = [project.name for project in chosen]
        yield task(
            f"Change the visibility of {listing(names)} to {visibility}.",
            "/",
            (StateCheck(tuple(update("code_projects", project.id, visibility=visibility) for project in chosen)),),
            land.to_project(chosen[0]) + 3 + 5 * (size - 1) + 1,
            DEFAULT_USER,
            projects="|".join(names),
            **{"new visibility": visibility},
        )


def _settings(land: Ground, rng: random.Random, teams: Teams, start: str, kinds: Sequence[str]) -> Iterator[Draft]:
    for (project, user), kind in zip(teams, map(str.split, cycle(kinds)), strict=False):
        fresh = {
            "name": f"{project.name} {rng.choice(('Plus', 'Next', 'Lite', 'Pro'))}",
            "description": rng.choice(_DESCRIPTIONS),
            "visibility": rng.choice([v for v in ("Private", "Internal", "Public") if v != project.visibility]),
            "topics": ", ".join(rng.sample(_TOPICS, 2)),
        }
        values = {name: fresh[name] for name in kind}
        said = [f'{name} to "{value}"' for name, value in values.items()]
        asked = listing([f"the {part}" for part in said])
        way = {"settings": 0, "project": 1, "home": land.to_project(project, user) + 1}[start]
        yield task(
            f"Change {asked}." if start != "home" else f"In the settings of {project.name}, change {asked}.",
            {"settings": f"{project.path}/settings", "project": project.path, "home": "/"}[start],
            (StateCheck((update("code_projects", project.id, **values),)),),
            way + len(kind) + 2,
            land.user(user).email,
            projects=project.name,
            **{f"new {name}": value for name, value in values.items()},
        )
