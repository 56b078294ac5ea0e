"""What README and docs/ say can be followed: links lead somewhere, commands and options exist, error lines are real."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import DOCS, DOCUMENTS, ROOT, anchors, commands, links, prose, spans, tables

from clickgrad.cli.parser import build_parser
from clickgrad.config import Config, load_config
from clickgrad.tasks.suites import parse_suite

OTHERS = ("git", "cd", "pip", "export", "python", "zstd", "vf-eval", "inspect")
SUITES = ("pocket", "pocket-unseen", "miniwob")
FILES = ("json", "jsonl", "py", "md", "toml", "log")  # `tasks.json` is a file, `tasks.suite` an option
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)

# --- links ----------------------------------------------------------------------------------------------------------


@each_document
def test_every_link_leads_to_a_file_and_a_heading_in_it(document: Path) -> None:
    for link in links(document):
        name, _, anchor = link.partition("#")
        target = document.parent / name if name else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
        assert document.parent != DOCS or target.resolve().is_relative_to(DOCS), (
            f"{link} would lead out of the built site"
        )


def test_every_page_has_its_place_on_the_site_and_on_the_first_page() -> None:
    pages = {page.name for page in DOCS.glob("*.md")}
    assert set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)) == pages
    assert {link.partition("#")[0] for link in links(DOCS / "index.md")} == pages - {"index.md"}


# --- commands and options -------------------------------------------------------------------------------------------


@each_document
def test_every_command_exists_with_its_options(document: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for words in commands(document):
        ours = next((place for place, word in enumerate(words) if re.fullmatch(r"(.*/)?clickgrad", word)), None)
        if words[0] == "make":
            assert words[1] in targets, words
        elif ours is not None:
            assert_is_understood(words[ours + 1 :])
        else:
            assert words[0] in OTHERS, words


def assert_is_understood(words: list[str]) -> None:
    options = build_parser().parse_args(words)
    if not hasattr(options, "set"):
        return
    command = " ".join(words[: 2 if words[0] == "study" else 1])
    suite = load_config(options.config, options.set, command).tasks.suite
    parse_suite(suite if suite in SUITES or suite.startswith("webarena") else str(ROOT / suite))


@each_document
def test_every_command_in_the_text_exists_with_its_flags(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for span in spans(document):
        if not span.startswith("clickgrad "):
            continue
        words = span.split()[1:]
        with pytest.raises(SystemExit) as caught:
            build_parser().parse_args([*words[: 2 if words[0] in ("study", "bench") else 1], "--help"])
        assert caught.value.code == 0, span
        assert set(re.findall(r"--[a-z-]+", span)) <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out)), span


@each_document
def test_every_option_in_the_text_exists(document: Path) -> None:
    for span in spans(document):
        option = re.match(r"(?:--set )?([a-z]+)\.([a-z0-9_]+)", span)
        if option and option[1] in Config.model_fields and option[2] not in FILES:
            assert option[2] in getattr(Config(), option[1]).__class__.model_fields, span


def test_the_defaults_in_the_tables_are_those_of_the_options() -> None:
    checked = 0
    for _, header, rows in tables(DOCS / "your-own-model.md"):
        for row in rows if header == ["option", "meaning", "default"] else ():
            section, option = row[0].strip("`").split(".")
            assert str(getattr(getattr(Config(), section), option)) == row[2].strip("`"), row
            checked += 1
    assert checked


@pytest.mark.parametrize("preset", ["qwen2.5-3b", "llama3.1-8b"])
def test_the_papers_settings_are_those_of_its_presets(preset: str) -> None:
    config = load_config(preset, [], "train")
    rows = next(rows for _, header, rows in tables(DOCS / "method.md") if header == ["option", "paper"])
    for name, told in rows:
        section, option = name.strip("`").split(".")
        value = getattr(getattr(config, section), option)
        assert type(value)(told) == value, name


# --- what the code says about itself --------------------------------------------------------------------------------


def test_the_departures_from_the_paper_are_those_the_algorithm_lists() -> None:
    listed = ast.get_docstring(ast.parse((ROOT / "src/clickgrad/algorithms/m_grpo.py").read_text())) or ""
    items = re.findall(r"^(\d+\. (?:.+\n?)+?)(?=^\d+\. |^\n|\Z)", listed, re.MULTILINE)
    told = " ".join(prose(DOCS / "method.md").replace("**", "").split())
    assert len(items) >= 5
    for item in items:
        assert " ".join(item.split()) in told


def test_every_error_line_that_is_explained_is_one_we_say() -> None:
    ours = list(said())
    explained = [line for _, line in re.findall(r"^\*\*(`+)(.+)\1\*\*$", prose(DOCS / "troubleshooting.md"), re.M)]
    refusals = next(rows for heading, _, rows in tables(DOCS / "your-own-model.md") if heading == "The chat template")
    assert len(explained) > 20
    assert len(refusals) > 3
    for line in [*explained, *(row[0].strip("`") for row in refusals)]:
        assert any(line.rstrip("… ") in text for text in ours), line


def said() -> Iterator[str]:
    """Every text in the code, with … for what is filled in, and what the set-up says when it fails."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)  # type: ignore[misc]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
    yield from re.findall(r'fail "([^"]+)"', (ROOT / "scripts" / "setup.sh").read_text())
