"""Which Chromium runs, and with which switches. Knows no Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from clickgrad.browser.fence import resolver_rules
from clickgrad.errors import UserError

EXECUTABLE_VARIABLE = "CLICKGRAD_CHROMIUM"

# Debian's /usr/bin/chromium* are shell scripts that do not exec: ending the script would orphan the browser.
_DEBIAN_FOLDER = Path("/usr/lib/chromium")
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PLAYWRIGHT_FOLDERS = (Path("~/.cache/ms-playwright"), Path("~/Library/Caches/ms-playwright"))
_PLAYWRIGHT_BINARIES = (
    "chromium_headless_shell-*/*/chrome-headless-shell",
    "chromium_headless_shell-*/*/headless_shell",
    "chromium-*/*/chrome",
    "chromium-*/*/Chromium.app/Contents/MacOS/Chromium",
)


# The last such switch wins, so this one repeats what matters of Playwright's own list. RenderDocument gives every
# navigation a new frame host, which costs a quarter of the turns per second.
_DISABLED_FEATURES = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "RenderDocument",
    "ThirdPartyStoragePartitioning",
    "Translate",
)


def find_chromium() -> Path | None:
    """The browser to use: the environment's choice, a system package, or Playwright's own download."""
    return next(_candidates(), None)


def require_chromium() -> Path:
    chosen = os.environ.get(EXECUTABLE_VARIABLE)
    if chosen and not _is_program(Path(chosen)):
        raise UserError(f"{EXECUTABLE_VARIABLE}={chosen} is not a program: set it to a Chromium binary or unset it")
    found = find_chromium()
    if found is None:
        raise UserError(
            "no Chromium found: run `apt install chromium-headless-shell` or `playwright install chromium`,"
            f" or set {EXECUTABLE_VARIABLE} to a Chromium binary"
        )
    return found


def _candidates() -> Iterator[Path]:
    chosen = os.environ.get(EXECUTABLE_VARIABLE)
    if chosen:
        if _is_program(Path(chosen)):
            yield _real_binary(Path(chosen))
        return
    for name in _NAMES:
        on_path = shutil.which(name)
        if (_DEBIAN_FOLDER / name).is_file():
            yield _DEBIAN_FOLDER / name
        elif on_path:
            yield _real_binary(Path(on_path))
    own = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    for folder in (Path(own),) if own else _PLAYWRIGHT_FOLDERS:
        for pattern in _PLAYWRIGHT_BINARIES:
            yield from sorted(folder.expanduser().glob(pattern), reverse=True)


def _real_binary(program: Path) -> Path:
    real = _DEBIAN_FOLDER / program.name
    return real if program.parent == Path("/usr/bin") and _is_program(real) else program


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def switches(hosts: Mapping[str, str]) -> list[str]:
    return [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--disable-features={','.join(_DISABLED_FEATURES)}",
        # The resolver rules are no fence when a proxy of the environment resolves names, or WebRTC sends datagrams.
        "--no-proxy-server",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        f"--host-resolver-rules={resolver_rules(hosts)}",
    ]
