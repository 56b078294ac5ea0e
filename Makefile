# Every target sets up what it needs: .venv, the pinned packages, a Chromium.
.PHONY: train demo test check lint docs setup dev release interop clean

setup:
	@bash scripts/setup.sh

dev:
	@bash scripts/setup.sh dev

train: setup
	.venv/bin/clickgrad train

demo: setup
	.venv/bin/clickgrad demo

test: dev
	.venv/bin/python -m pytest -n 2 --dist loadfile

lint: dev
	.venv/bin/ruff format --check src tests
	.venv/bin/ruff check src tests
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache

check: lint test

docs: dev
	@[ -x .venv/bin/mkdocs ] || .venv/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	.venv/bin/mkdocs build --strict

release: dev
	@bash scripts/release.sh

interop: dev
	@bash scripts/interop.sh

clean:
	rm -rf .venv build dist src/*.egg-info .mypy_cache .ruff_cache .hypothesis
