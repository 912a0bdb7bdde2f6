"""The tier below vLLM's host buffer: a ``SecondaryTierManager`` whose chunks a Kvasir daemon keeps.

vLLM calls all of it from its scheduler, which must not wait: what it asks the daemon for goes out at the end of a step, and what
is answered is read at the beginning of the next. ``getattr`` and ``fields`` are for what differs between vLLM 0.24 and 0.33.
"""

from __future__ import annotations

import collections
import dataclasses
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from vllm.logger import init_logger
from vllm.v1.kv_offload.base import (
    LookupResult,
    OffloadingEvent,
    RequestOffloadingContext,
)
from vllm.v1.kv_offload.tiering.base import JobResult, SecondaryTierManager

from kvasir_vllm import __version__, effective, fingerprint, protocol, tenants
from kvasir_vllm.adapters import Adapters
from kvasir_vllm.client import Client, Nobody
from kvasir_vllm.lookups import GROUP_BYTES, KEYS_MAX, Lookups, wire_keys
from kvasir_vllm.variants import Variants

try:
    from vllm.v1.kv_offload.base import Medium

    STORAGE: Any = Medium.STORAGE
except ImportError:  # before 0.27
    STORAGE = "STORAGE"

logger = init_logger("vllm.kvasir")

OPEN_SECONDS_MAX = 60.0  # The daemon takes its memory when it opens a namespace.
SEQUENCES_MAX = 1024
MEASURED_TOKENS_MIN = 256

_EVENT_FIELDS = {f.name for f in dataclasses.fields(OffloadingEvent)}
_RESULT_FIELDS = {f.name for f in dataclasses.fields(JobResult)}


class _Job:
    """A load or a store under way, in one or several requests."""

    def __init__(self, job_id: int, load: bool, keys: list[bytes]) -> None:
        self.job_id = job_id
        self.load = load
        self.keys = keys
        self.began = time.monotonic()
        self.outcome = bytearray(b"\xff" * len(keys))
        self.parts = 0

    def result(self, row_bytes: int) -> JobResult:
        done = self.done()
        whole = len(done) == len(self.keys)
        more: dict[str, Any] = {
            "successful_keys": tuple(done) if self.load and done and not whole else None,
            "transfer_time": time.monotonic() - self.began,
            "transfer_bytes": len(done) * row_bytes,
        }
        known = {name: value for name, value in more.items() if name in _RESULT_FIELDS}
        return JobResult(job_id=self.job_id, success=whole, **known)

    def done(self) -> list[Any]:
        if not any(self.outcome):  # CHUNK_DONE is 0
            return self.keys
        return [k for k, o in zip(self.keys, self.outcome, strict=True) if o == protocol.CHUNK_DONE]

    def failed(self) -> list[Any]:
        if not any(self.outcome):
            return []
        return [k for k, o in zip(self.keys, self.outcome, strict=True) if o != protocol.CHUNK_DONE]


class _Prefills:
    """How long vLLM took to compute prompts, from the look-up that found nothing to the last store of the prompt.

    Stores come in bursts, some steps after what they store was computed, so the time between two of them says nothing; nor does
    a prompt of which a part was loaded. A store of few tokens is of decoding.
    """

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell = tell
        self._since: collections.OrderedDict[str, list[int]] = collections.OrderedDict()

    def waits(self, request: str) -> None:
        """It may be computed from now on."""
        self._since[request] = [time.monotonic_ns(), 0, 0]
        if len(self._since) > KEYS_MAX:
            self._since.popitem(last=False)

    def loads(self, request: str) -> None:
        self._since.pop(request, None)

    def stored(self, request: str, tokens: int) -> None:
        times = self._since.get(request)
        if times is not None and tokens >= MEASURED_TOKENS_MIN:
            times[1] += tokens
            times[2] = time.monotonic_ns()

    def ended(self, request: str) -> None:
        start, tokens, last = self._since.pop(request, (0, 0, 0))
        if tokens:
            self._tell(tokens, last - start)


class KvasirTier(SecondaryTierManager):
    """Chunks that a Kvasir daemon keeps.

    socket: where the daemon listens
    enable_kv_events: whether to tell of stored chunks where vLLM tells of its blocks
    tenant_key: what tenants' names are hashed with; better in the environment, as KVASIR_TENANT_KEY
    keep_over_reset: whether weights stay as they are where vLLM's caches are reset, as when it sleeps
    """

    medium = STORAGE

    def __init__(
        self,
        offloading_spec: Any,
        primary_kv_view: memoryview,
        tier_type: str,
        socket: str,
        enable_kv_events: bool = False,
        tenant_key: str = "",
        keep_over_reset: bool = False,
        backpressure_detector: Any = None,
    ) -> None:
        super().__init__(offloading_spec, primary_kv_view, tier_type)
        self._bp_detector = backpressure_detector  # since 0.31
        if not hasattr(self, "locality"):  # since 0.27
            self.locality = None
        assert primary_kv_view.strides is not None and primary_kv_view.shape is not None
        self._row_bytes = int(primary_kv_view.strides[0])
        rows = int(primary_kv_view.shape[0])
        self._tokens = _chunk_tokens(offloading_spec)
        self._tenants = tenants.Tenants(tenant_key or os.environ.get("KVASIR_TENANT_KEY", ""))
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._jobs: dict[int, _Job] = {}
        self._sequences: collections.OrderedDict[str, list[Any]] = collections.OrderedDict()
        self._done: collections.deque[_Job] = collections.deque()
        self._last: collections.OrderedDict[str, tuple[int, bytes]] = collections.OrderedDict()
        events = enable_kv_events and offloading_spec.kv_events_config.enable_kv_cache_events
        self._events: list[OffloadingEvent] | None = [] if events else None
        self._keep_over_reset = keep_over_reset
        self._adapters: Adapters | None = None
        self._variants = Variants(None, private=False)
        self._client: Client | Nobody = self._open(socket, offloading_spec, rows)
        self._prefills = _Prefills(lambda tokens, nanos: self._client.tell(protocol.measured(tokens, nanos)))
        # A server that starts now has nothing in memory: better that its first requests find what the tiers have.
        self._client.wait(OPEN_SECONDS_MAX)
        self._lookups = Lookups(self._client, self._wired)
        self._waiting: set[str] = set()

    def _open(self, socket: str, spec: Any, rows: int) -> Client | Nobody:
        """Without a whole key there is no tier: a weaker one would find blocks of others."""
        try:
            config = effective.vllm_config(spec)
            values = namespace(spec, config, self._row_bytes)
            text = protocol.namespace(values.items())
            path = buffer_path(spec)
            hello = protocol.hello(self._row_bytes, rows, path, _client_name(spec), text)
            if getattr(config, "lora_config", None) is not None:
                self._adapters = Adapters()
            self._variants = Variants(self._adapters, _is_private(config))
        except Exception as e:
            logger.exception("Kvasir tier is off for this engine: what its blocks depend on cannot be told: %s", e)
            return Nobody()
        logger.info("Kvasir tier at %s: %d rows of %d bytes at %s", socket, rows, self._row_bytes, path)
        logger.debug("Kvasir namespace:\n%s", text)
        return Client(socket, hello)

    def _wired(self, request: str, keys: Sequence[bytes]) -> list[bytes]:
        return self._variants.wired(request, keys, wire_keys)

    def lookup(self, key: Any, req_context: Any) -> LookupResult:
        if req_context.req_id in self._variants.out:
            return LookupResult.MISS
        found = self._lookups.lookup(key, req_context.req_id)
        if found is None:
            self._waiting.add(req_context.req_id)
            return LookupResult.RETRY
        return LookupResult.HIT if found else LookupResult.MISS

    def submit_store(self, job_metadata: Any) -> None:
        keys, rows = _keys(job_metadata), _rows(job_metadata)
        context = job_metadata.req_context
        if not self._variants.allows(context):
            self._finish(_Job(job_metadata.job_id, False, keys))
            return
        self._prefills.stored(context.req_id, len(keys) * self._tokens)
        tenant = self._tenants.of(getattr(context, "kv_transfer_params", None))
        positions = [self._position(context, key) for key in keys]
        parent = self._parent(context, positions)
        wired = self._wired(context.req_id, keys)
        if keys and positions[-1] != protocol.POSITION_UNKNOWN:
            self._remember(context, positions[-1], wired[-1])

        def frame(number: int, start: int, end: int) -> bytes:
            before = parent if start == 0 else wired[start - 1]
            part = slice(start, end)
            return protocol.store(number, tenant, before, rows[part], positions[part], wired[part])

        self._submit(_Job(job_metadata.job_id, False, keys), frame)

    def submit_load(self, job_metadata: Any) -> None:
        keys, rows = _keys(job_metadata), _rows(job_metadata)
        context = job_metadata.req_context
        self._prefills.loads(context.req_id)
        if not self._variants.allows(context):
            self._finish(_Job(job_metadata.job_id, True, keys))
            return
        wired = self._wired(context.req_id, keys)

        def frame(number: int, start: int, end: int) -> bytes:
            return protocol.load(number, rows[start:end], wired[start:end])

        self._submit(_Job(job_metadata.job_id, True, keys), frame)

    def _submit(self, job: _Job, frame: Any) -> None:
        starts = range(0, len(job.keys), KEYS_MAX)
        job.parts = len(starts)
        with self._lock:
            self._jobs[job.job_id] = job
        if not starts:
            self._finish(job)
        for start in starts:
            end = min(len(job.keys), start + KEYS_MAX)
            self._ask(job, frame, start, end)

    def _ask(self, job: _Job, frame: Any, start: int, end: int) -> None:
        def done(body: bytes | None) -> None:
            if body is not None and len(body) == end - start:
                job.outcome[start:end] = body
            self._part_done(job)

        if not self._client.ask(lambda number: frame(number, start, end), done):
            self._part_done(job)

    def _part_done(self, job: _Job) -> None:
        with self._lock:
            job.parts -= 1
            last = job.parts == 0
        if last:
            self._finish(job)

    def _finish(self, job: _Job) -> None:
        self._done.append(job)
        with self._lock:
            self._jobs.pop(job.job_id, None)
            self._idle.notify_all()

    def get_finished_jobs(self) -> Iterable[JobResult]:
        self._client.poll()
        results = []
        while self._done:
            job = self._done.popleft()
            if job.load:
                self._lookups.mark_miss(job.failed())
            if not job.load:
                self._tell_stored(job)
            results.append(job.result(self._row_bytes))
        return results

    def _tell_stored(self, job: _Job) -> None:
        if self._events is None:
            return
        keys: list[Any] = job.done()
        if not keys:
            return
        more: dict[str, Any] = {"locality": self.locality, "ownership": self.tier_type}
        known = {name: value for name, value in more.items() if name in _EVENT_FIELDS}
        self._events.append(OffloadingEvent(keys=keys, medium=self.medium, removed=False, **known))

    def take_events(self) -> Iterable[OffloadingEvent]:
        if self._events:
            yield from self._events
            self._events.clear()

    def on_new_request(self, req_context: Any) -> RequestOffloadingContext:
        self._variants.begin(req_context)
        return RequestOffloadingContext()

    def touch(self, keys: Collection[Any], req_context: Any) -> None:
        """vLLM tells a request's chunks here, from the first on: the end of a request has no other word of them before 0.31."""
        if self._client.wants_ended:
            self._sequences[req_context.req_id] = list(keys)
            if len(self._sequences) > SEQUENCES_MAX:
                self._sequences.popitem(last=False)

    def _tell_end(self, context: Any) -> None:
        touched = self._sequences.pop(context.req_id, [])
        if not self._client.wants_ended or context.req_id in self._variants.out:
            return
        positions = getattr(context, "_offload_key_positions", None)
        keys = sorted(positions, key=positions.__getitem__) if positions else touched
        first = [key for key in keys if not any(key[-GROUP_BYTES:])][:KEYS_MAX]
        if first:
            tenant = self._tenants.of(getattr(context, "kv_transfer_params", None))
            self._client.tell(protocol.ended(self._wired(context.req_id, first), None, tenant))

    def on_request_finished(self, req_context: Any) -> None:
        self._tell_end(req_context)
        self._lookups.cleanup(req_context.req_id)
        self._last.pop(req_context.req_id, None)
        self._prefills.ended(req_context.req_id)
        self._variants.end(req_context)

    def on_schedule_end(self, context: Any = None) -> None:  # 0.24 passes nothing
        for request in self._waiting:
            self._prefills.waits(request)
        self._waiting.clear()
        self._lookups.flush()

    def drain_jobs(self) -> None:
        """vLLM's word for a reset of its caches: whoever asked for it may have changed the weights before."""
        with self._lock:
            while self._jobs:
                self._idle.wait(1)
        if self._keep_over_reset:
            return
        if self._variants.reset(_is_whole_reset()):
            self._lookups.forget()
            self._last.clear()
            logger.warning(
                "Kvasir tier: the caches were reset, and the weights may be others: nothing from before is found any more. "
                'Set "keep_over_reset": true beside the socket if only caches are ever reset'
            )

    def shutdown(self) -> None:
        self._client.close()
        if self._adapters is not None:
            self._adapters.close()

    def _position(self, context: Any, key: Any) -> int:
        """How many chunks come before this one; vLLM tells where it ends since 0.31."""
        tell = getattr(context, "get_offload_key_position", None)
        end = tell(key) if tell is not None else None
        return int(end) // self._tokens - 1 if end else protocol.POSITION_UNKNOWN

    def _parent(self, context: Any, positions: Sequence[int]) -> bytes | None:
        last = self._last.get(context.req_id)
        if last is None or not positions or positions[0] != last[0] + 1:
            return None
        return last[1]

    def _remember(self, context: Any, position: int, key: bytes) -> None:
        self._last[context.req_id] = (position, key)
        if len(self._last) > KEYS_MAX:
            self._last.popitem(last=False)


def _keys(job: Any) -> list[bytes]:
    return list(job.keys)


def _rows(job: Any) -> list[int]:
    rows: Collection[Any] = job.chunk_ids if hasattr(job, "chunk_ids") else job.block_ids  # since 0.30
    # An array of numpy's, whose numbers cost more each by itself.
    return rows.tolist() if hasattr(rows, "tolist") else [int(row) for row in rows]


def _client_name(spec: Any) -> str:
    return f"kvasir-vllm {__version__} {getattr(spec.config, 'engine_id', '')}".strip()


def _chunk_tokens(spec: Any) -> int:
    cache = spec.config.cache
    return int(cache.tokens_per_hash) * int(cache.blocks_per_chunk)


def buffer_path(spec: Any) -> str:
    """Where vLLM's host buffer lies. vLLM has no public word for it."""
    region = getattr(spec, "_scheduler_mmap", None)
    path = getattr(region, "mmap_path", None)
    if path:
        return str(path)
    return f"/dev/shm/vllm_offload_{spec.config.engine_id}.mmap"


def namespace(spec: Any, config: Any, row_bytes: int) -> dict[str, object]:
    """All that makes the bytes of a chunk what they are; an exception where that cannot be told.

    spec: vLLM's for offloading; config: its whole configuration, with all that overrides the model's own
    """
    import vllm

    parts = spec.config
    groups = [(g.tokens_per_block, *g.layer_names) for g in getattr(parts, "groups", ())]
    values: dict[str, object] = {
        "engine": "vllm",
        "version": vllm.__version__,
        "keys": protocol.KEYS,
        "model": model_name(parts.model.name),
        "dtype": parts.model.dtype,
        "layout": getattr(parts, "kv_cache_layout", None),
        "canonical": getattr(parts, "canonical_layout", False),
        "replicated": getattr(parts, "replicated_layout", False),
        "groups": effective.digest(groups),
        "tokens-per-hash": parts.cache.tokens_per_hash,
        "blocks-per-chunk": parts.cache.blocks_per_chunk,
        "chunk-tokens": _chunk_tokens(spec),
        "row-bytes": row_bytes,
        "weights": weights(config.model_config, config.load_config),
    }
    for name, said in effective.sections(config).items():
        values[name] = effective.digest(said)
    draft = _draft(config)
    if draft is not None:
        values["draft-weights"] = weights(draft, config.load_config)
    for size in ("tp_size", "pp_size", "pcp_size", "dcp_size", "world_size"):
        values[size.replace("_", "-")] = getattr(parts.parallel, size, 1)
    return values


def _draft(config: Any) -> Any:
    """The model that guesses; some have keys and values of their own in the chunks."""
    draft = getattr(getattr(config, "speculative_config", None), "draft_model_config", None)
    return None if draft is None or draft.model == config.model_config.model else draft


def model_name(model: str) -> str:
    """The same wherever the files lie: what they are is for the fingerprint to say."""
    return Path(model).resolve().name if Path(model).exists() else model


def weights(about: Any, load: Any) -> str:
    """The fingerprint of a model that this process serves."""
    form = str(getattr(load, "load_format", "auto"))
    folder = _folder(about)
    if "dummy" not in form.lower() and folder is not None:
        strong = fingerprint.of_folder(folder)
        if strong is not None:
            return strong
    facts: dict[str, object] = {"model": about.model, "revision": about.revision, "format": form, "seed": about.seed}
    logger.warning("Kvasir tier: there are no files of weights here, so the fingerprint is weak: it is of %s", sorted(facts))
    return fingerprint.weak(facts)


def _is_private(config: Any) -> bool:
    """Whether blocks of this process are of no use to any other."""
    if getattr(config.cache_config, "calculate_kv_scales", False):
        logger.warning("Kvasir tier: the scales of keys and values are of the first prompt, so blocks are of use to this process only")
        return True
    models = [each for each in (config.model_config, _draft(config)) if each is not None]
    folders = [folder for folder in map(_folder, models) if folder is not None]
    if any(fingerprint.changed_nanos(folder) > fingerprint.began_nanos() for folder in folders):
        logger.warning("Kvasir tier: weights were changed after this process began, so its blocks are of use to this process only")
        return True
    return False


def _is_whole_reset() -> bool:
    """Whether vLLM's own prefix cache was emptied too, as its scheduler knows at this moment."""
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(effective.FRAMES_MAX):
        if frame is None:
            break
        said = frame.f_locals.get("reset_successful")
        if isinstance(said, bool):
            return said
        frame = frame.f_back
    return True


def _folder(about: Any) -> Path | None:
    path = Path(about.model)
    if path.exists():
        return path
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError:
        return None
    try:
        return Path(snapshot_download(about.model, revision=about.revision, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError):  # Not downloaded, or a place that is not the hub's.
        return None
