"""Public component libraries as npm has them, for pages of the zoo: fetched once, held against pinned hashes.

Run `python tests/support/npm_cache.py` to fetch them (about 6 MB); pages that need them are skipped where they are not.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

CACHE = Path("~/.cache/clickgrad/npm").expanduser()
# By name and version: SHA-512 of the registry's archive, as npm writes it.
LIBRARIES = {
    "bootstrap@5.3.3": "8HLCdWgyoMguSO9o+aH+iuZ+aht+mzW0u3HIMzVu7Srrpv7EBBxTnrFlSCskwdY1+EOFQSm7uMJhNQHkdPcmjg==",
    "flatpickr@4.6.13": "97PMG/aywoYpB4IvbvUJi0RQi8vearvU0oov1WW3k0WZPBMrTQVqekSX5CjSG/M4Q3i6A/0FKXC7RyAoAUUSPw==",
    "quill@2.0.2": "QfazNrhMakEdRG57IoYFwffUIr04LWJxbS/ZkidRFXYCQt63c1gK6Z7IHUXMx/Vh25WgPBU42oBaNzQ0K1R/xw==",
    "react@18.3.1": "wS+hAgJShR0KhEvPJArfuPVN1+Hz1t0Y6n5jLrGQbkb4urgPE/0Rve+1kMB1v/oWgHgm4WIcV+i7F2pTVj+2iQ==",
    "react-dom@18.3.1": "5m4nQKp+rZRb09LNH59GM4BxTh9251/ylbKIbpe7TpGxfJ+9kv6BLkLBXIjjspbgbnIBNqlI23tRnTWT0snUIw==",
    "sortablejs@1.15.3": "zdK3/kwwAK1cJgy1rwl1YtNTbRmc8qW/+vgXf75A7NHag5of4pyI6uK86ktmQETyWRH7IGaE73uZOOBcGxgqZg==",
    "tom-select@2.3.1": "QS4vnOcB6StNGqX4sGboGXL2fkhBF2gIBB+8Hwv30FZXYPn0CyYO8kkdATRvwfCTThxiR4WcXwKJZ3cOmtI9eg==",
}


def is_fetched(library: str) -> bool:
    return (CACHE / library / "package.json").is_file()


def fetch(library: str) -> None:
    """Into `CACHE / library`. Nothing of it is run."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", library, "--silent", "--ignore-scripts", "--pack-destination", folder]
        subprocess.run(command, check=True, capture_output=True)
        archive = next(Path(folder).glob("*.tgz"))
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != LIBRARIES[library]:
            raise SystemExit(f"{library} is not what it was: {digest}")
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        shutil.copytree(Path(folder) / "package", CACHE / library, dirs_exist_ok=True)


if __name__ == "__main__":
    for library in LIBRARIES:
        if not is_fetched(library):
            fetch(library)
        sys.stdout.write(f"{library} is in {CACHE / library}\n")
