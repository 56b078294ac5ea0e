"""Pocket Arena as a verifiers v1 taskset: `vf-eval` and prime-rl find it by the name of this file.

    pip install 'clickgrad[verifiers]' uv
    export PYTHONPATH=examples/interop
    vf-eval clickgrad-web -m MODEL -n 20 --env.taskset.split test \
        --env.agent.harness.id null --env.agent.runtime.type subprocess --no-push

Any harness that speaks MCP can play it; `--env.taskset.suite miniwob` takes the tasks of MiniWoB++.
"""

from clickgrad.interop.verifiers_taskset import WebTaskset

__all__ = ["WebTaskset"]
