from __future__ import annotations

import struct

import pytest

from kvasir_vllm import protocol


def test_a_hello_is_what_the_page_says() -> None:
    frame = protocol.hello(10, 3, "/dev/shm/x", "me", "a=b")
    body = b"\x01KVTP" + struct.pack("<HII", 2, 10, 3)
    body += b"\x0a\x00/dev/shm/x" + b"\x02\x00me" + b"\x03\x00a=b"
    assert frame == struct.pack("<I", len(body)) + body


def test_keys_are_a_hash_and_a_group() -> None:
    assert protocol.key(b"h" * 32, 7) == b"h" * 32 + b"\x07\0\0\0"
    short = protocol.key(b"h" * 16, 7)
    assert len(short) == protocol.KEY_BYTES and not short.startswith(b"h" * 16)


def test_stores_name_row_place_and_key() -> None:
    one, two = protocol.key(b"1" * 32, 0), protocol.key(b"2" * 32, 0)
    frame = protocol.store(9, b"t" * 16, one, [5], [6], [two])
    body = b"\x03" + struct.pack("<Q", 9) + b"t" * 16 + b"\x01" + one
    body += struct.pack("<III", 1, 5, 6) + two
    assert frame == struct.pack("<I", len(body)) + body
    assert protocol.store(9, bytes(16), None, [], [], [])[29:] == b"\0" * 5


def test_rows_and_keys_must_be_as_many() -> None:
    with pytest.raises(ValueError):
        protocol.load(1, [1, 2], [protocol.key(b"1" * 32, 0)])


def test_answers_come_back_byte_for_byte() -> None:
    frame = b"\x83" + struct.pack("<QI", 4, 3) + b"\0\1\3"
    assert protocol.parse(frame) == protocol.Answer(protocol.DONE, 4, b"\0\1\3")
    welcome = protocol.parse(b"\x81" + struct.pack("<HIII", 1, 2, 3, 4) + b"d" * 32)
    assert welcome == protocol.Welcome(1, 2, 3, 4, b"d" * 32)


@pytest.mark.parametrize(
    "frame",
    [b"\x83", b"\x83" + struct.pack("<QI", 1, 9), b"\x00", b"\x81\x01", b"\xff\x00"],
)
def test_a_bad_frame_is_an_error_of_the_connection(frame: bytes) -> None:
    with pytest.raises(ConnectionError):
        protocol.parse(frame)


def test_the_daemon_says_why_it_refuses() -> None:
    with pytest.raises(protocol.Refused, match="too old") as caught:
        protocol.parse(b"\xff" + struct.pack("<HH", 2, 7) + b"too old")
    assert caught.value.code == 2


@pytest.mark.parametrize("length", [0, protocol.FRAME_BYTES_MAX + 1, 0xFFFFFFFF])
def test_a_frame_of_any_length_is_not_taken(length: int) -> None:
    with pytest.raises(protocol.ProtocolError):
        protocol.body_length(struct.pack("<I", length))


def test_a_namespace_is_in_the_order_of_its_keys() -> None:
    assert protocol.namespace([("b", 2), ("a", None)]) == "a=None\nb=2"
    with pytest.raises(ValueError):
        protocol.namespace([("a", "x\ny=1")])
