"""The tier protocol, version 2, as docs/tier-protocol.md has it: frames to bytes and back."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

VERSION = 2
# What namespaces and keys are made of: blocks under other keys are never found.
KEYS = 2
MAGIC = b"KVTP"
FRAME_BYTES_MAX = 1 << 20
KEY_BYTES = 36
HASH_BYTES = 32
TENANT_BYTES = 16
POSITION_UNKNOWN = 0xFFFFFFFF
OUTPUT_UNKNOWN = 0xFFFFFFFF

HELLO, LOOKUP, STORE, LOAD, CANCEL, STATS, MEASURED, ENDED, FORGET = 1, 2, 3, 4, 5, 6, 7, 8, 9
WELCOME, FOUND, DONE, TOLD, ERROR = 0x81, 0x82, 0x83, 0x86, 0xFF

KEY_MISSING, KEY_THERE, KEY_SLOWER = 0, 1, 2
REFUSED_FOR_GOOD = (2, 3)  # Another version, a bad namespace: the same hello will be refused again.

CHUNK_DONE, CHUNK_MISSING, CHUNK_FAILED, CHUNK_DROPPED, CHUNK_CANCELLED = 0, 1, 2, 3, 4


class ProtocolError(ConnectionError):
    """The other side does not keep to the protocol, or says that we do not."""


class Refused(ProtocolError):
    """The daemon closes the connection, and says why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{text} (error {code})")
        self.code = code


@dataclass(frozen=True)
class Welcome:
    version: int
    frame_bytes_max: int
    keys_max: int
    requests_max: int
    digest: bytes
    wants_ended: bool = False


@dataclass(frozen=True)
class Answer:
    """One byte for each key of a request, or a text."""

    type: int
    id: int
    body: bytes


def key(block_hash: bytes, group: int) -> bytes:
    """The key of a block; hashes of another length are hashed once more."""
    if len(block_hash) != HASH_BYTES:
        block_hash = hashlib.sha256(block_hash).digest()
    return block_hash + struct.pack("<I", group)


def _text(text: str) -> bytes:
    data = text.encode()
    if len(data) > 0xFFFF:
        raise ValueError(f"a text of {len(data)} bytes")
    return struct.pack("<H", len(data)) + data


def _frame(kind: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    if len(body) + 1 > FRAME_BYTES_MAX:
        raise ValueError(f"a frame of {len(body) + 1} bytes")
    return struct.pack("<IB", len(body) + 1, kind) + body


def hello(row_bytes: int, rows: int, path: str, client: str, namespace: str) -> bytes:
    head = MAGIC + struct.pack("<HII", VERSION, row_bytes, rows)
    return _frame(HELLO, head, _text(path), _text(client), _text(namespace))


def lookup(request: int, keys: Sequence[bytes]) -> bytes:
    return _frame(LOOKUP, struct.pack("<QI", request, len(keys)), *keys)


def store(
    request: int,
    tenant: bytes,
    parent: bytes | None,
    rows: Sequence[int],
    positions: Sequence[int],
    keys: Sequence[bytes],
) -> bytes:
    if len(tenant) != TENANT_BYTES:
        raise ValueError(f"a tenant of {len(tenant)} bytes")
    head = struct.pack("<Q", request) + tenant + (b"\0" if parent is None else b"\1" + parent)
    pack = struct.Struct("<II").pack
    places = [pack(row, position) for row, position in zip(rows, positions, strict=True)]
    return _frame(STORE, head, struct.pack("<I", len(keys)), *_pairs(places, keys))


def load(request: int, rows: Sequence[int], keys: Sequence[bytes]) -> bytes:
    places = map(struct.Struct("<I").pack, rows)
    return _frame(LOAD, struct.pack("<QI", request, len(keys)), *_pairs(places, keys))


def _pairs(places: Iterable[bytes], keys: Sequence[bytes]) -> list[bytes]:
    """A place and a key in turn; a ValueError where there are not as many of both."""
    parts = [b""] * (2 * len(keys))
    parts[0::2] = places
    parts[1::2] = keys
    return parts


def cancel(request: int) -> bytes:
    return _frame(CANCEL, struct.pack("<Q", request))


def stats(request: int) -> bytes:
    return _frame(STATS, struct.pack("<Q", request))


def measured(tokens: int, nanos: int) -> bytes:
    return _frame(MEASURED, struct.pack("<QQ", tokens, nanos))


def ended(keys: Sequence[bytes], output_tokens: int | None, tenant: bytes) -> bytes:
    output = OUTPUT_UNKNOWN if output_tokens is None else output_tokens
    return _frame(ENDED, struct.pack("<I", output), tenant[:8], b"\0", struct.pack("<I", len(keys)), *keys)


def forget(request: int, tenant: bytes) -> bytes:
    if len(tenant) != TENANT_BYTES:
        raise ValueError(f"a tenant of {len(tenant)} bytes")
    return _frame(FORGET, struct.pack("<Q", request), tenant)


def body_length(head: bytes) -> int:
    """How long the frame is whose first four bytes these are."""
    (length,) = struct.unpack("<I", head)
    if not 1 <= length <= FRAME_BYTES_MAX:
        raise ProtocolError(f"a frame of {length} bytes")
    return int(length)


def parse(frame: bytes) -> Welcome | Answer:
    """Reads what the daemon sent; an error of the daemon's is raised."""
    try:
        kind, body = frame[0], frame[1:]
        if kind == ERROR:
            code, length = struct.unpack_from("<HH", body)
            raise Refused(code, body[4 : 4 + length].decode(errors="replace"))
        if kind == WELCOME:
            version, frame_max, keys_max, requests_max = struct.unpack_from("<HIII", body)
            wants = body[46] if len(body) > 46 else 0
            return Welcome(version, frame_max, keys_max, requests_max, body[14:46], bool(wants & 1))
        if kind in (FOUND, DONE, TOLD):
            request, count = struct.unpack_from("<QI", body)
            if len(body) != 12 + count:
                raise ProtocolError(f"an answer of {len(body)} bytes for {count} keys")
            return Answer(kind, request, body[12:])
    except struct.error as e:
        raise ProtocolError(f"a frame that is too short: {e}") from e
    raise ProtocolError(f"a frame of type {kind}")


def namespace(values: Iterable[tuple[str, object]]) -> str:
    """The text of a namespace: lines of key=value, in the order of the keys."""
    lines: dict[str, str] = {}
    for name, value in values:
        text = str(value)
        if not name or "=" in name or any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name + text):
            raise ValueError(f"namespace {name!r} = {text!r}")
        lines[name] = text
    return "\n".join(f"{name}={lines[name]}" for name in sorted(lines))
