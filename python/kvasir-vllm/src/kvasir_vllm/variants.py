"""What else the keys of a request depend on than vLLM's hash and the namespace: the content of its adapter, and how often the
engine was told to forget what it has cached.

    vLLM's hash --xor--> SHA-256(adapter, generation) --> key; the hash itself where there is neither
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from kvasir_vllm.adapters import Adapters
from kvasir_vllm.protocol import HASH_BYTES

FRAMES_MAX = 30
GENERATION_BYTES = 16


class Variants:
    """The variants of requests under way; all of it is on the scheduler's thread."""

    def __init__(self, adapters: Adapters | None, private: bool) -> None:
        """adapters: None where the engine has none; private: no other process may have these keys."""
        self._adapters = adapters
        self._generation = secrets.token_bytes(GENERATION_BYTES) if private else b""
        self._requests: dict[str, tuple[Any, int]] = {}
        self._used = True  # Others may have stored under the keys that an engine begins with.
        self._closed = False
        self.out: set[str] = set()

    def begin(self, context: Any) -> None:
        """A request that vLLM tells of now, before anything else is asked for it."""
        request, pad = None, self._pad(b"")
        if self._closed:
            self.out.add(context.req_id)
        if self._adapters is not None:
            try:
                request = _adapter(context.req_id)
            except LookupError:
                self.out.add(context.req_id)
            else:
                content = b"" if request is None else self._adapters.content(request)
                if content is None:
                    self.out.add(context.req_id)
                else:
                    pad = self._pad(content)
        self._requests[context.req_id] = request, pad

    def end(self, context: Any) -> None:
        self._requests.pop(context.req_id, None)
        self.out.discard(context.req_id)

    def reset(self, whole: bool) -> bool:
        """From now on keys are others; False where nothing was stored under the present ones.

        What was begun before may go on with what it has, and stays out. If not the whole of the engine's own cache was emptied,
        later requests may go on with the rest of it: then all stay out, until it is.
        """
        self.out.update(self._requests)
        self._closed = not whole
        if not self._used:
            return False
        self._generation = secrets.token_bytes(GENERATION_BYTES)
        self._used = False
        return True

    def allows(self, context: Any) -> bool:
        """Whether its blocks may be stored and loaded now: not if its adapter was changed meanwhile."""
        if context.req_id not in self._requests:
            self.begin(context)
        request, _ = self._requests[context.req_id]
        if request is not None and self._adapters is not None and self._adapters.content(request) is None:
            self.out.add(context.req_id)
        if context.req_id in self.out:
            return False
        self._used = True
        return True

    def wired(self, request: str, keys: Sequence[bytes], wire: Callable[[Sequence[bytes]], list[bytes]]) -> list[bytes]:
        """The keys that the daemon knows."""
        wired = wire(keys)
        _, pad = self._requests.get(request, (None, 0))
        if pad == 0:
            return wired
        return [
            (int.from_bytes(key[:HASH_BYTES], "little") ^ pad).to_bytes(HASH_BYTES, "little") + key[HASH_BYTES:]
            for key in wired
        ]

    def _pad(self, content: bytes) -> int:
        if not content and not self._generation:
            return 0
        said = len(content).to_bytes(8, "little") + content + self._generation
        return int.from_bytes(hashlib.sha256(b"kvasir variant 2\n" + said).digest(), "little")


def _adapter(request_id: str) -> Any:
    """The adapter of the request that vLLM is about to tell of: it tells a tier only the name of the request."""
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(FRAMES_MAX):
        if frame is None:
            break
        for name in ("request", "req"):
            found = frame.f_locals.get(name)
            if getattr(found, "request_id", None) == request_id and hasattr(found, "lora_request"):
                return found.lora_request
        frame = frame.f_back
    raise LookupError(request_id)
