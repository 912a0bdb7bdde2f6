"""SGLang's storage backend: pages of the host pool, by the keys that SGLang gives them.

SGLang calls it from threads of its own, which may wait; they wait for a limited time, and then go on without the page.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import logging
import os
import re
import secrets
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sglang
import torch
from sglang.srt.mem_cache.hicache_storage import HiCacheStorage

from kvasir_sglang import __version__
from kvasir_sglang.ring import Ring
from kvasir_vllm import effective, fingerprint, protocol
from kvasir_vllm.client import Client, Nobody

logger = logging.getLogger(__name__)

RING_BYTES = 256 << 20
ANSWER_SECONDS_MAX = 30.0
OPEN_SECONDS_MAX = 60.0
NOBODY = bytes(protocol.TENANT_BYTES)
GENERATION_BYTES = 16

# Options that leave keys and values as they are, by words in their names, and places whose content is told elsewhere. All others are
# in the namespace, also those that a later SGLang adds.
UNUSED = re.compile(
    r"""^(host|device_|base_gpu|gpu_id|use_ray|numa|gc_|mem_fraction|max_(running|queued|total|prefill)|prefill_(max|decode|delayer)
    |chunked_prefill|num_continuous|scheduler_|sleep_on|crash_dump|show_|enable_(metrics|trace|memory_saver|nan)|served_model
    |weight_version|model_path|lora_paths|speculative_draft_model_path|max_lora(s_per|ded)|max_loaded|lora_eviction|download_dir
    |nnodes|node_rank|dist_|instance_id|allow_auto|stream_|api_key|admin_api|fastapi|warmups|skip_server|file_storage|sampling
    |preferred_|constrained_|bucket_|prompt_tokens|generation_tokens|decode_log|hicache_(ratio|size|host|write|io|storage)
    |enable_(hierarchical|cache_report|lmcache|flexkv|http2|response|streaming|symm|nccl|profile|cudagraph|torch_compile|priority))
    |(^|_)ports?$|_ipc_name$|seed$|endpoint|url|log_|metric|trace_|otlp|watchdog|timeout|interval|tokenizer|grpc|http|ssl_|schedul
    |priority|retraction|disaggregation|encoder_(urls|bootstrap|transfer)|parser$|template|radix_eviction|cuda_graph|torch_compile
    |debug_|kv_events|kv_canary|custom_sigquit|load_balance|watermark|prefetch|media_|worker_num""",
    re.VERBOSE,
)


class KvasirStorage(HiCacheStorage):  # type: ignore[misc]
    """Pages that a Kvasir daemon keeps.

    extra config: socket (where the daemon listens), ring_bytes (shared memory that pages pass through), weights (the folder of
    the model, where its name is no path)
    """

    def __init__(self, storage_config: Any, kwargs: Any = None) -> None:
        self._config = storage_config
        self._extra = dict(storage_config.extra_config or {})
        self._socket = str(self._extra["socket"])
        self._ring: Ring | None = None
        self._client: Client | Nobody | None = None
        self._generation = b""
        self.mem_pool_host: Any = None

    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        """The pool says how large a page is: only now can rows be made and the daemon be asked."""
        self.mem_pool_host = mem_pool_host
        page = mem_pool_host.get_dummy_flat_data_page()
        self._page_bytes = page.numel() * page.element_size()
        self._dtype = page.dtype
        try:
            values = self._namespace(mem_pool_host)
        except Exception as e:
            # A weaker key would find pages of others.
            logger.exception("Kvasir tier is off for this engine: what its pages depend on cannot be told: %s", e)
            self._client = Nobody()
            return
        name = f"kvasir_sglang_{os.getpid()}_{self._config.tp_rank}_{uuid.uuid4().hex[:8]}.ring"
        ring = Ring(name, self._page_bytes, int(self._extra.get("ring_bytes", RING_BYTES)))
        text = protocol.namespace({**values, "row-bytes": ring.row_bytes}.items())
        hello = protocol.hello(ring.row_bytes, ring.rows, str(ring.path), f"kvasir-sglang {__version__}", text)
        self._ring, self._client = ring, Client(self._socket, hello)
        self._client.wait(OPEN_SECONDS_MAX)
        self._hear_of_flushes(mem_pool_host)
        logger.info("Kvasir tier at %s: %d rows of %d bytes", self._socket, ring.rows, ring.row_bytes)

    def _hear_of_flushes(self, pool: Any) -> None:
        """SGLang does not tell a backend that it flushes its caches, as after an update of the weights: it empties the pool."""
        empty = getattr(pool, "clear", None)
        if empty is None or self._extra.get("keep_over_reset"):
            return

        @functools.wraps(empty)
        def emptied(*arguments: Any, **named: Any) -> Any:
            self.clear()
            return empty(*arguments, **named)

        pool.clear = emptied

    def clear(self) -> None:
        """From now on pages have other keys: nothing from before is found, and what is under way is nobody's."""
        self._generation = secrets.token_bytes(GENERATION_BYTES)
        logger.warning("Kvasir tier: the caches were flushed, and the weights may be others: nothing from before is found any more")

    def _namespace(self, pool: Any) -> dict[str, object]:
        """All that makes the bytes of a page what they are. Ranks of MLA hold the same pages, others their own."""
        config, arguments = self._config, _server_args()
        model = str(config.model_name or "")
        values: dict[str, object] = {
            "engine": "sglang",
            "version": sglang.__version__,
            "keys": protocol.KEYS,
            "model": Path(model).name if Path(model).exists() else model,
            "layout": getattr(pool, "layout", ""),
            "dtype": self._dtype,
            "page-bytes": self._page_bytes,
            "chunk-tokens": int(pool.page_size),
            "mla": bool(config.is_mla_model),
            "tp-rank": 0 if config.is_mla_model else config.tp_rank,
            "tp-size": 1 if config.is_mla_model else config.tp_size,
            "weights": self._weights(model),
            "options": effective.digest(_options(arguments), "options"),
            "model-config": effective.digest(_model_config(arguments), "model-config"),
            "environment": effective.digest({k: v for k, v in os.environ.items() if ENVIRONMENT.match(k)}),
            "capability": _capability(),
        }
        for name in ("pp_rank", "pp_size", "attn_cp_rank", "attn_cp_size", "dcp_rank", "dcp_size"):
            values[name.replace("_", "-")] = getattr(config, name, 0)
        draft = getattr(arguments, "speculative_draft_model_path", None)
        if draft:
            values["draft-weights"] = self._weights(str(draft))
        for number, path in enumerate(_adapters(arguments)):
            values[f"adapter-{number}"] = fingerprint.of_folder(Path(path)) or secrets.token_hex(GENERATION_BYTES)
        places = [Path(str(each)) for each in (self._extra.get("weights", model), draft, *_adapters(arguments)) if each]
        if any(fingerprint.changed_nanos(place) > fingerprint.began_nanos() for place in places):
            logger.warning("Kvasir tier: weights were changed after this process began, so its pages are of use to this process only")
            self._generation = secrets.token_bytes(GENERATION_BYTES)
        return values

    def _weights(self, model: str) -> str:
        strong = fingerprint.of_folder(Path(str(self._extra.get("weights", model))))
        if strong is not None:
            return strong
        logger.warning("Kvasir tier: there are no files of weights at %s, so the fingerprint is weak", model)
        return fingerprint.weak({"model": model})

    def _wired(self, key: str, generation: bytes) -> bytes:
        wired = _wire_key(key)
        if not generation:
            return wired
        return protocol.key(hashlib.sha256(b"kvasir generation 2\n" + generation + wired).digest(), 0)

    # Pages of the pool.

    def batch_exists(self, keys: list[str], extra_info: Any = None) -> int:
        """How many of them are there, from the first on."""
        generation = self._generation
        wired = [self._wired(key, generation) for key in keys]
        body = self._ask(lambda number: protocol.lookup(number, wired)) or b""
        for count, found in enumerate(body):
            if found != protocol.KEY_THERE:
                return count
        return len(body)

    def batch_set_v1(self, keys: list[str], host_indices: torch.Tensor, extra_info: Any = None) -> list[bool]:
        return self._store(keys, self._pages(keys, host_indices), _last(extra_info))

    def batch_get_v1(self, keys: list[str], host_indices: torch.Tensor, extra_info: Any = None) -> list[bool]:
        indices = self._indices(keys, host_indices)

        def put(place: int, row: torch.Tensor) -> None:
            self.mem_pool_host.set_from_flat_data_page(indices[place], row)

        return self._load(keys, put)

    def _indices(self, keys: list[str], host_indices: torch.Tensor) -> list[int]:
        size = int(self.mem_pool_host.page_size)
        if len(host_indices) != len(keys) * size:
            raise ValueError(f"{len(host_indices)} places for {len(keys)} pages of {size} tokens")
        return [int(index) for index in host_indices[::size]]

    def _pages(self, keys: list[str], host_indices: torch.Tensor) -> list[torch.Tensor]:
        return [self.mem_pool_host.get_data_page(i, flat=False) for i in self._indices(keys, host_indices)]

    # Tensors, as SGLang's older interface has them.

    def get(self, key: str, target_location: Any = None, target_sizes: Any = None) -> torch.Tensor | None:
        return self.batch_get([key], [target_location])[0]

    def batch_get(
        self, keys: list[str], target_locations: Any = None, target_sizes: Any = None
    ) -> list[torch.Tensor | None]:
        pages: list[torch.Tensor | None] = [None] * len(keys)

        def put(place: int, row: torch.Tensor) -> None:
            target = target_locations[place] if target_locations else None
            pages[place] = row.clone() if target is None else target.copy_(row.view(target.dtype).reshape(target.shape))

        self._load(keys, put)
        return pages

    def set(self, key: str, value: Any = None, target_location: Any = None, target_sizes: Any = None) -> bool:
        return self.batch_set([key], [value])

    def batch_set(
        self, keys: list[str], values: Any = None, target_locations: Any = None, target_sizes: Any = None
    ) -> bool:
        return all(self._store(keys, values, None))

    def exists(self, key: str) -> bool:
        return self.batch_exists([key]) == 1

    def close(self) -> None:
        """The daemon ends what is under way first, then the rows are given back."""
        if self._client is not None:
            self._client.close()
        if self._ring is not None:
            self._ring.close()

    # Rows of the ring.

    def _row(self, row: int) -> torch.Tensor:
        assert self._ring is not None
        return torch.frombuffer(self._ring.row(row), dtype=torch.uint8)[: self._page_bytes].view(self._dtype)

    def _store(self, keys: Sequence[str], pages: Sequence[torch.Tensor], before_first: str | None) -> list[bool]:
        stored: list[bool] = []
        generation = self._generation
        wired = [self._wired(key, generation) for key in keys]
        parent = self._wired(before_first, generation) if before_first else None
        while len(stored) < len(keys):
            at = len(stored)
            rows = self._take(len(keys) - at)
            if not rows:
                break
            for row, page in zip(rows, pages[at:], strict=False):
                self._row(row).reshape(page.shape).copy_(page)
            before = parent if at == 0 else wired[at - 1]
            part, places = wired[at : at + len(rows)], list(range(1, len(rows) + 1))
            body = self._ask(_storing(before, rows, places, part), rows)
            stored += [each == protocol.CHUNK_DONE for each in body or bytes([protocol.CHUNK_FAILED]) * len(rows)]
            if body is None:
                break
            self._give(rows)
        return stored + [False] * (len(keys) - len(stored))

    def _load(self, keys: Sequence[str], put: Callable[[int, torch.Tensor], None]) -> list[bool]:
        loaded: list[bool] = []
        generation = self._generation
        wired = [self._wired(key, generation) for key in keys]
        while len(loaded) < len(keys):
            at = len(loaded)
            rows = self._take(len(keys) - at)
            if not rows:
                break
            body = self._ask(_loading(rows, wired[at : at + len(rows)]), rows)
            if body is None:
                break
            for place, (row, outcome) in enumerate(zip(rows, body, strict=True)):
                loaded.append(outcome == protocol.CHUNK_DONE)
                if loaded[-1]:
                    put(at + place, self._row(row))
            self._give(rows)
        return loaded + [False] * (len(keys) - len(loaded))

    def _take(self, count: int) -> list[int]:
        return [] if self._ring is None else self._ring.take(count, ANSWER_SECONDS_MAX)

    def _give(self, rows: list[int]) -> None:
        if self._ring is not None:
            self._ring.give(rows)

    def _ask(self, frame: Callable[[int], bytes], rows: Sequence[int] = ()) -> bytes | None:
        """The answer; None where there is none in time, and then the rows come back when there is."""
        answered = threading.Event()
        lock = threading.Lock()
        box: list[bytes | None] = [None]
        late = [False]

        def done(body: bytes | None) -> None:
            with lock:
                box[0] = body
                answered.set()
                if not late[0] and body is not None:
                    return
            self._give(list(rows))

        client = self._client
        if client is None or not client.ask(frame, done):
            self._give(list(rows))
            return None
        end = time.monotonic() + ANSWER_SECONDS_MAX
        while not answered.wait(0.001) and time.monotonic() < end:
            client.poll()
        with lock:
            late[0] = not answered.is_set()
            return box[0]


def _storing(parent: bytes | None, rows: list[int], places: list[int], keys: list[bytes]) -> Callable[[int], bytes]:
    return lambda number: protocol.store(number, NOBODY, parent, rows, places, keys)


def _loading(rows: list[int], keys: list[bytes]) -> Callable[[int], bytes]:
    return lambda number: protocol.load(number, rows, keys)


def _wire_key(key: str) -> bytes:
    """SGLang's keys are SHA-256 as digits, or such with something behind; those are hashed once more."""
    try:
        digest = bytes.fromhex(key)
    except ValueError:
        digest = b""
    return protocol.key(digest if len(digest) == protocol.HASH_BYTES else hashlib.sha256(key.encode()).digest(), 0)


def _last(extra_info: Any) -> str | None:
    """The page before the first of the call: eviction by lineage wants to know it."""
    before = getattr(extra_info, "prefix_keys", None)
    return before[-1] if before else None


ENVIRONMENT = re.compile(r"SGLANG_.*(ATTN|ATTENTION|KV|MLA|ROPE|QUANT|FP8|FP4|INT4|INT8|MOE|MXFP|NSA|DSA|FLASH|TRITON|GEMM|CONTEXT_LEN)")


def _server_args() -> Any:
    """The options of this server."""
    try:
        from sglang.srt.runtime_context import get_server_args as current
    except ImportError:  # before 0.5.2x
        from sglang.srt.server_args import get_global_server_args as current
    return current()


def _options(arguments: Any) -> dict[str, Any]:
    names = getattr(arguments, "__struct_fields__", None) or [field.name for field in dataclasses.fields(arguments)]
    return {name: getattr(arguments, name) for name in names if not UNUSED.search(name)}


def _model_config(arguments: Any) -> Any:
    """The model's configuration with all that overrides it, as SGLang itself makes it."""
    from sglang.srt.configs.model_config import ModelConfig

    made = ModelConfig.from_server_args(arguments)
    return {"config": made.hf_config, "context": made.context_len, "dtype": str(made.dtype), "quantization": made.quantization}


def _adapters(arguments: Any) -> list[str]:
    """Where the adapters lie that the server loads at its start. Others have names of their own in each process."""
    given = getattr(arguments, "lora_paths", None) or []
    named = given.values() if isinstance(given, dict) else given
    return [str(_place(each)) for each in named]


def _place(adapter: Any) -> str:
    if isinstance(adapter, dict):
        return str(adapter["lora_path"])
    return str(getattr(adapter, "lora_path", None) or str(adapter).partition("=")[2] or adapter)


def _capability() -> str:
    """What chooses how attention is computed, and with it how pages are laid out."""
    return str(torch.cuda.get_device_capability()) if torch.cuda.is_available() else torch.backends.cpu.get_cpu_capability()
