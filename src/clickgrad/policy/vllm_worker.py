"""What runs inside vLLM's own workers: `--worker-extension-cls clickgrad.policy.vllm_worker.WeightReloading`.

vLLM mixes the class into its worker; it is imported by no one else, and nothing of clickgrad is needed here.
"""

from __future__ import annotations

from typing import Any


class WeightReloading:
    def reload_from(self: Any, folder: str) -> None:
        """New weights from a transformers folder, in place.

        On a CPU, vLLM 0.32 computes the output head from a packed copy of its weights, which its own reloading leaves
        as it was where the head is tied to the embeddings; packing it anew does nothing on other devices. May go when
        `reload_weights` does it.
        """
        self.reload_weights(weights_path=folder)
        head = getattr(self.get_model(), "lm_head", None)
        if head is not None and hasattr(head, "quant_method"):
            head.quant_method.process_weights_after_loading(head)
