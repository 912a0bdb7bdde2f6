"""Which keys the daemon has, as far as it has answered: look-ups go out at the end of a step and are answered during the next.

vLLM asks for each chunk of a waiting request in each step, thousands of times for a long prompt, so a look-up is two dictionary
reads. All of it is on the scheduler's thread, but for the answers, which may come on the client's.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Iterable, Sequence

from kvasir_vllm import protocol
from kvasir_vllm.client import Client, Nobody

LOOKUP_SECONDS_MAX = 5.0
KEYS_MAX = 4096
GROUP_BYTES = 4
POLL_EVERY = 64

_KEY_BYTES = protocol.HASH_BYTES + GROUP_BYTES


class _Groups(dict[bytes, bytes]):
    """The bytes of a group in vLLM's order, to those of the protocol."""

    def __missing__(self, group: bytes) -> bytes:
        self[group] = wired = group[::-1]
        return wired


_GROUPS = _Groups()


def wire_key(key: bytes) -> bytes:
    """vLLM's key is a hash and its group, most significant byte first."""
    return protocol.key(bytes(key[:-GROUP_BYTES]), int.from_bytes(key[-GROUP_BYTES:], "big"))


def wire_keys(keys: Iterable[bytes]) -> list[bytes]:
    """The same of many, without a call for each."""
    groups, hash_bytes = _GROUPS, protocol.HASH_BYTES
    return [key[:hash_bytes] + groups[key[hash_bytes:]] if len(key) == _KEY_BYTES else wire_key(key) for key in keys]


class Lookups:
    """What is known of the keys of each request, until it ends; None while the daemon has not answered."""

    def __init__(self, client: Client | Nobody, wired: Callable[[str, list[bytes]], list[bytes]]) -> None:
        """wired: the keys of a request, as the daemon has them."""
        self._client = client
        self._wired = wired
        self._known: dict[str, dict[bytes, bool | None]] = {}
        self._asked: dict[str, list[bytes]] = {}
        self._answers: collections.deque[tuple[str, list[bytes], bytes | None]] = collections.deque()
        self._unanswered: collections.deque[tuple[float, str, list[bytes]]] = collections.deque()
        self._due = True
        self._waited = 0

    def lookup(self, key: bytes, request: str) -> bool | None:
        """Whether the daemon has it; None where that is not known yet."""
        if self._due:
            self._settle()
        known = self._known.get(request)
        if known is None:
            known = self._known[request] = {}
        found = known.get(key)
        if found is not None:
            return found
        if key in known:
            return self._again(key, known)
        known[key] = None
        self._asked.setdefault(request, []).append(key)
        return None

    def _again(self, key: bytes, known: dict[bytes, bool | None]) -> bool | None:
        """An answer may come while a step asks for the rest of a long prompt: what it says holds from there on."""
        self._waited += 1
        if self._waited % POLL_EVERY == 0:
            self._client.poll()
            self._settle()
        return known[key]

    def flush(self) -> None:
        """Asks for what the step wanted to know: one request's keys together, for what is quicker goes by their number."""
        self._settle()
        self._due = True
        asked, self._asked = self._asked, {}
        for request, keys in asked.items():
            for at in range(0, len(keys), KEYS_MAX):
                self._ask(request, keys[at : at + KEYS_MAX])

    def _ask(self, request: str, keys: list[bytes]) -> None:
        def done(body: bytes | None) -> None:
            self._answers.append((request, keys, body))

        wired = self._wired(request, keys)
        if self._client.ask(lambda number: protocol.lookup(number, wired), done):
            self._unanswered.append((time.monotonic() + LOOKUP_SECONDS_MAX, request, keys))
        else:
            self._answers.append((request, keys, None))

    def _settle(self) -> None:
        self._due = False
        while self._answers:
            request, keys, body = self._answers.popleft()
            if body is None or len(body) != len(keys):
                body = bytes(len(keys))
            self._answer(request, keys, body)
        while self._unanswered and self._unanswered[0][0] < time.monotonic():
            _, request, keys = self._unanswered.popleft()
            self._answer(request, keys, bytes(len(keys)))

    def _answer(self, request: str, keys: Sequence[bytes], body: bytes) -> None:
        known = self._known.get(request)
        if known is None:
            return
        for key, found in zip(keys, body, strict=True):
            if known.get(key, False) is None:
                known[key] = found == protocol.KEY_THERE

    def mark_miss(self, keys: Iterable[bytes]) -> None:
        """A load of these failed: asking for them again would only fail again."""
        for key in keys:
            for known in self._known.values():
                if key in known:
                    known[key] = False

    def forget(self) -> None:
        """Keys are others from now on."""
        self._known.clear()
        self._asked.clear()

    def cleanup(self, request: str) -> None:
        """The request has ended."""
        self._known.pop(request, None)
        self._asked.pop(request, None)
