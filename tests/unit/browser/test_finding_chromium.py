"""Finding a Chromium, and the switches it runs with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from clickgrad.browser.chromium import find_chromium, require_chromium
from clickgrad.errors import UserError


def make_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_environment_names_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = make_program(tmp_path / "my-chromium")
    monkeypatch.setenv("CLICKGRAD_CHROMIUM", str(program))
    assert find_chromium() == program
    assert require_chromium() == program


def test_a_wrong_path_in_the_environment_is_the_users_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLICKGRAD_CHROMIUM", str(tmp_path / "nothing"))
    assert find_chromium() is None
    with pytest.raises(UserError, match=r"CLICKGRAD_CHROMIUM=.*nothing is not a program"):
        require_chromium()


def test_what_is_found_is_a_binary_and_not_debians_wrapper_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLICKGRAD_CHROMIUM", raising=False)
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium on this machine")
    assert found.read_bytes()[:2] != b"#!"


def test_importing_the_browser_stage_does_not_import_playwright() -> None:
    code = "import sys, clickgrad.browser; sys.exit('playwright' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
