# Every target sets up what it needs: .venv, the pinned packages, a Chromium.
.PHONY: train demo test check lint docs setup release interop clean

setup:
	@bash scripts/setup.sh

train: setup
	.venv/bin/clickgrad train

demo: setup
	.venv/bin/clickgrad demo

test: setup
	.venv/bin/python -m pytest -n 2 --dist loadfile

lint: setup
	.venv/bin/ruff format --check src tests
	.venv/bin/ruff check src tests
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache

check: lint test

docs: setup
	@[ -x .venv/bin/mkdocs ] || .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	.venv/bin/mkdocs build --strict

release: setup
	@bash scripts/release.sh

interop: setup
	@bash scripts/interop.sh

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .hypothesis
