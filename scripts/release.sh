#!/usr/bin/env bash
# Builds wheel and sdist and says what is missing before they could be published. Publishes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=build/release-tools
[ -x "$tools/bin/python" ] || { .venv/bin/python -m venv "$tools"; "$tools/bin/pip" install --quiet build twine; }
rm -rf dist
"$tools/bin/python" -m build --quiet
"$tools/bin/twine" check --strict dist/*
ls -l dist | awk 'NR > 1 { printf "%s  %.1f MB\n", $9, $5 / 1e6 }'
missing=0
say() { echo "missing: $*"; missing=1; }
[ -z "$(git status --porcelain)" ] || say "uncommitted changes"
version=$(.venv/bin/python -c 'from clickgrad.version import __version__; print(__version__)')
grep -q "^## $version" CHANGELOG.md || say "a section $version in CHANGELOG.md"
git rev-parse -q --verify "refs/tags/v$version" >/dev/null || say "the tag v$version"
[ -f src/clickgrad/shipped/pocket/adapter_model.safetensors ] || say "the adapter of clickgrad demo (scripts/ship.py)"
[ $missing = 0 ] && echo "ready: twine upload dist/*" || exit 1
