"""How weights get to vLLM servers is chosen by what both sides have."""

from __future__ import annotations

from pathlib import Path

import pytest

from clickgrad.backends.engines import choose_transport, refuse_useless
from clickgrad.config import load_config
from clickgrad.errors import UserError
from clickgrad.policy.vllm_channel import Transport
from clickgrad.policy.vllm_server import VllmServer


@pytest.mark.parametrize(
    ("setting", "transport"),
    [
        ("lora.rank=0", "gloo"),
        ("lora.rank=8", None),
        ("reinforce.transfer=files", None),
        ('reinforce.servers=["http://127.0.0.1:8000"]', None),
    ],
)
def test_on_a_cpu_all_weights_go_straight_to_servers_of_the_run(setting: str, transport: str | None) -> None:
    settings = ["model.device=cpu", "reinforce.engine=vllm", "lora.rank=0", setting]
    assert choose_transport(load_config(None, settings, "reinforce"), None) == transport


@pytest.mark.parametrize(("transport", "backend"), [("nccl", "nccl"), ("gloo", "clickgrad-gloo")])
def test_a_server_is_told_how_weights_will_come(tmp_path: Path, transport: Transport, backend: str) -> None:
    told = VllmServer("model", tmp_path / "log", dtype="float32", transport=transport).command
    assert told[told.index("--weight-transfer-config") + 1] == f'{{"backend": "{backend}"}}'
    assert "--weight-transfer-config" not in VllmServer("model", tmp_path / "log", dtype="float32").command


def test_without_vllm_the_option_would_do_nothing() -> None:
    with pytest.raises(UserError, match="does nothing without"):
        refuse_useless(load_config(None, ["reinforce.transfer=files"], "reinforce"))
