#!/usr/bin/env bash
# Builds wheel and sdist, tries the wheel in an empty environment, and says what is missing before they could be
# published. Publishes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
tools=build/release-tools
empty=$here/build/empty
missing=0
say() { echo "missing: $*"; missing=1; }

build_both() {
  [ -x "$tools/bin/twine" ] || { .venv/bin/python -m venv "$tools"; "$tools/bin/pip" install --quiet --disable-pip-version-check build twine; }
  rm -rf dist build/lib build/bdist.*
  "$tools/bin/python" -m build --outdir dist . > build/release.log 2>&1 || { tail -20 build/release.log; exit 1; }
  "$tools/bin/twine" check --strict dist/*
  ls -l dist | awk 'NR > 1 { printf "%s  %.1f MB\n", $9, $5 / 1e6 }'
}

# As a stranger has it: the wheel and what it requires, no torch, no copy of the repository.
try_without_torch() {
  rm -rf "$empty"
  .venv/bin/python -m venv "$empty"
  "$empty/bin/pip" install --quiet --disable-pip-version-check dist/*.whl
  du -sm "$empty" | awk '{ print "installed without torch: " $1 " MB" }'
  cd "$empty"
  "$empty/bin/clickgrad" --help > /dev/null
  "$empty/bin/clickgrad" doctor || [ $? = 1 ]  # 1: it works, and says that torch and the model are missing
  "$empty/bin/clickgrad" tasks --split test --json | wc -l | awk '{ print "tasks: " $1 " held out" }'
  cd "$here"
}

# Torch and the embedded model are borrowed from .venv: what is tried is our wheel, not another gigabyte of theirs.
try_demo_with_torch() {
  .venv/bin/python -c 'import site; print(site.getsitepackages()[0])' > "$(echo "$empty"/lib/python*/site-packages)/borrowed.pth"
  (cd "$empty" && "$empty/bin/python" "$here/scripts/try_demo.py" "$empty/bin/clickgrad")
}

say_what_is_missing() {
  [ -z "$(git status --porcelain)" ] || say "uncommitted changes"
  local version
  version=$(.venv/bin/python -c 'from clickgrad.version import __version__; print(__version__)')
  grep -q "^## $version" CHANGELOG.md || say "a section $version in CHANGELOG.md"
  git rev-parse -q --verify "refs/tags/v$version" >/dev/null || say "the tag v$version"
  [ -f src/clickgrad/shipped/pocket/adapter_model.safetensors ] || say "the adapter of clickgrad demo (scripts/ship.py)"
}

build_both
try_without_torch
try_demo_with_torch
say_what_is_missing
[ $missing = 0 ] && echo "ready: twine upload dist/*" || exit 1
