"""What would be published. The full form, an install into an empty environment, is `make release`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
MOST_MB = 12  # 9.8 of them are the shipped adapter; docs/release.md states the size
BUILD = "from setuptools import build_meta as b; print(b.build_wheel('out')); print(b.build_sdist('out'))"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheel and sdist of a copy, so that nothing is left in the repository."""
    copy = tmp_path_factory.mktemp("copy")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if not name.startswith(("tests/", "docs/")) and (REPO / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(REPO / name, copy / name)
    subprocess.run([sys.executable, "-W", "ignore", "-c", BUILD], cwd=copy, capture_output=True, check=True)
    return copy


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = (built / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        (entries,) = (name for name in archive.namelist() if name.endswith("/entry_points.txt"))
        said = message_from_string(archive.read(metadata).decode())
        assert b"clickgrad = clickgrad.cli:main" in archive.read(entries)
    source = built / "src"
    assert inside == {str(path.relative_to(source)) for path in (source / "clickgrad").rglob("*") if path.is_file()}
    assert wheel.stat().st_size < MOST_MB * 1e6
    assert said["License-Expression"] == "Apache-2.0"
    assert said.get_all("License-File") == ["LICENSE", "src/clickgrad/shipped/pocket/LICENSE"]
    assert not [name for name in said.get_all("Requires-Dist", []) if "torch" in name and "extra ==" not in name]


def test_the_shipped_adapter_comes_with_its_card_licence_and_options(built: Path) -> None:
    (wheel,) = (built / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        shipped = {
            name.rpartition("/")[2] for name in archive.namelist() if name.startswith("clickgrad/shipped/pocket/")
        }
        card = archive.read("clickgrad/shipped/pocket/README.md").decode()
    assert shipped == {"LICENSE", "README.md", "adapter_config.json", "adapter_model.safetensors", "clickgrad.toml"}
    assert "sha256 of `adapter_model.safetensors`" in card
    assert "not measured" not in card


def test_the_sdist_has_what_the_wheel_is_built_from(built: Path) -> None:
    (sdist,) = (built / "out").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CITATION.cff",
        "pyproject.toml",
        "src/clickgrad/py.typed",
    } <= inside
    assert not [name for name in inside if name.startswith(("tests", "docs", ".ci"))]
