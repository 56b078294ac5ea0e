"""Hands and eyes: Chromium sessions, what they see, what they can do, and the fence around them.

Importing this package does not import Playwright; opening a browser does.
"""

from clickgrad.browser.chromium import find_chromium, require_chromium
from clickgrad.browser.fake import FakeBrowser, FakeElement, FakePage, FakeSession
from clickgrad.browser.pool import Browser
from clickgrad.browser.session import Session

__all__ = [
    "Browser",
    "FakeBrowser",
    "FakeElement",
    "FakePage",
    "FakeSession",
    "Session",
    "find_chromium",
    "require_chromium",
]
