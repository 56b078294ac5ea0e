from __future__ import annotations

from pathlib import Path

import pytest
from shops import cloned


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the model that every run here starts from."""
    return cloned(tmp_path_factory.mktemp("start") / "tiny")
