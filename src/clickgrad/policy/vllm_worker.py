"""What runs inside vLLM's own workers: `--worker-extension-cls clickgrad.policy.vllm_worker.WeightReloading`.

vLLM mixes the class into its worker and finds the receiver by the name that is registered here
(`--weight-transfer-config '{"backend": "clickgrad-gloo"}'`); the module is imported by no one else.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._C._distributed_c10d import TCPStore
from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory
from vllm.distributed.weight_transfer.nccl_engine import NCCLWeightTransferEngine

from clickgrad.policy.vllm_channel import gloo_pair

GLOO = "clickgrad-gloo"


class WeightReloading:
    def reload_from(self: Any, folder: str) -> None:
        """New weights from a transformers folder, in place."""
        self.reload_weights(weights_path=folder)
        pack_head(self.get_model())


class GlooReceiving(NCCLWeightTransferEngine):  # type: ignore[misc]
    """As vLLM's engine `nccl`, with what CPUs have in its place."""

    def init_transfer_engine(self, init_info: Any) -> None:
        store = TCPStore(init_info.master_address, init_info.master_port, 2, False)
        self.model_update_group = gloo_pair(store, init_info.rank_offset)

    def receive_weights(self, update_info: Any) -> None:
        for name, dtype, shape in zip(update_info.names, update_info.dtype_names, update_info.shapes, strict=True):
            weight = torch.empty(shape, dtype=getattr(torch, dtype))
            self.model_update_group.recv([weight], 0, 0).wait()
            self.model.load_weights([(name, weight)])

    def update_weights(self, update_info: dict[str, Any]) -> None:
        self.receive_weights(self.parse_update_info(update_info))  # there is no device to wait for

    def finish_weight_update(self) -> None:
        super().finish_weight_update()
        pack_head(self.model)

    def shutdown(self) -> None:
        self.model_update_group = None


def pack_head(model: Any) -> None:
    """On a CPU, vLLM 0.32 computes the output head from a packed copy of its weights, which its own reloading leaves
    as it was where the head is tied to the embeddings; packing it anew does nothing on other devices. May go when
    `reload_weights` does it.
    """
    head = getattr(model, "lm_head", None)
    if head is not None and hasattr(head, "quant_method"):
        head.quant_method.process_weights_after_loading(head)


WeightTransferEngineFactory.register_engine(GLOO, GlooReceiving)
