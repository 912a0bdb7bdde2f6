"""vLLM's tiers on a machine without a GPU, for tests: vLLM refuses that, since its own copies are CUDA's.

``spec_name`` is CpuTieringSpec, ``spec_module_path`` cpu_spec.
"""

from __future__ import annotations

import time
from typing import Any

from vllm.v1.kv_offload.base import OffloadingWorker, TransferResult
from vllm.v1.kv_offload.cpu.shared_offload_region import SharedOffloadRegion
from vllm.v1.kv_offload.tiering.spec import TieringOffloadingSpec


class TorchCopies(OffloadingWorker):
    """Copies blocks between the model's memory and the shared buffer, at once and one by one."""

    def __init__(self, caches: Any, region: Any) -> None:
        self._region = region
        self._finished: list[Any] = []
        rows = getattr(region, "create_next_worker_view", None) or region.create_next_view
        self._layers = [(c.tensor.view(-1, c.page_size_bytes), rows(c.page_size_bytes)) for c in caches.tensors]

    def _move(self, job: int, pairs: Any, out: bool) -> bool:
        began, moved = time.monotonic(), 0
        for block, row in pairs:
            for device, host in self._layers:
                (host[row] if out else device[block]).copy_(device[block] if out else host[row])
                moved += host.shape[1]
        self._finished.append(TransferResult(job, True, moved, time.monotonic() - began))
        return True

    def submit_store(self, job_id: int, src_spec: Any, dst_spec: Any) -> bool:
        blocks, rows = (int(b) for b in src_spec.block_ids), (int(r) for r in dst_spec.block_ids)
        return self._move(job_id, zip(blocks, rows, strict=True), True)

    def submit_load(self, job_id: int, src_spec: Any, dst_spec: Any) -> bool:
        rows, blocks = (int(r) for r in src_spec.block_ids), (int(b) for b in dst_spec.block_ids)
        return self._move(job_id, zip(blocks, rows, strict=True), False)

    def get_finished(self) -> list[Any]:
        finished, self._finished = self._finished, []
        return finished

    def wait(self, job_ids: Any) -> None:
        """Everything is done when it was submitted."""

    def shutdown(self) -> None:
        self._layers.clear()
        self._region.cleanup()


class CpuTieringSpec(TieringOffloadingSpec):
    def get_worker(self, kv_caches: Any) -> Any:
        if not self._worker:
            sizes: dict[str, Any] = {"engine_id": self._engine_id, "cpu_page_size": self.cpu_page_size_per_worker}
            if hasattr(self, "num_chunks"):  # since 0.30
                sizes |= {"num_chunks": self.num_chunks, "kv_bytes_per_chunk": self.kv_bytes_per_chunk}
                sizes["rank"] = self.config.parallel.rank
            else:
                sizes |= {"num_blocks": self.num_blocks, "kv_bytes_per_block": self.kv_bytes_per_chunk, "rank": 0}
            self._worker = TorchCopies(kv_caches, SharedOffloadRegion(**sizes))
        return self._worker
