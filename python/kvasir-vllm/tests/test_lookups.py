"""Look-ups, with a client that answers when it is told to."""

from __future__ import annotations

from collections.abc import Callable

from kvasir_vllm import protocol
from kvasir_vllm.lookups import POLL_EVERY, Lookups, wire_key, wire_keys


class Answering:
    """Takes frames, and answers those it was given answers for when it is polled."""

    def __init__(self) -> None:
        self.frames: list[tuple[bytes, Callable[[bytes | None], None]]] = []
        self.there = True
        self.ready: bytes | None = None

    def ask(self, frame: Callable[[int], bytes], done: Callable[[bytes | None], None]) -> bool:
        if self.there:
            self.frames.append((frame(len(self.frames) + 1), done))
        return self.there

    def poll(self) -> None:
        if self.ready is not None:
            body, self.ready = self.ready, None
            self.frames[-1][1](body)


def key(number: int, group: int = 0) -> bytes:
    return number.to_bytes(32, "big") + group.to_bytes(4, "big")


def lookups() -> tuple[Answering, Lookups]:
    client = Answering()
    return client, Lookups(client, lambda _, keys: wire_keys(keys))  # type: ignore[arg-type]


def test_many_keys_are_written_as_each_by_itself() -> None:
    keys = [key(1), key(2, 7), key(3, 1 << 30), b"short" + (5).to_bytes(4, "big")]
    assert wire_keys(keys) == [wire_key(each) for each in keys]
    assert wire_keys([key(2, 7)]) == [key(2)[:32] + b"\x07\0\0\0"]


def test_a_step_asks_once_for_all_keys_of_a_request() -> None:
    client, each = lookups()
    assert [each.lookup(key(i), "r") for i in (1, 2, 1)] == [None, None, None]
    each.flush()
    assert len(client.frames) == 1 and client.frames[0][0] == protocol.lookup(1, [key(1), key(2)])
    assert each.lookup(key(1), "r") is None
    client.frames[0][1](bytes([protocol.KEY_THERE, protocol.KEY_SLOWER]))
    each.flush()
    assert [each.lookup(key(i), "r") for i in (1, 2)] == [True, False]
    assert len(client.frames) == 1, "what is known is not asked for again"


def test_an_answer_that_comes_while_a_step_asks_holds_from_there_on() -> None:
    client, each = lookups()
    keys = [key(i) for i in range(4 * POLL_EVERY)]
    for one in keys:
        each.lookup(one, "r")
    each.flush()
    client.ready = bytes([protocol.KEY_THERE]) * len(keys)
    found = [each.lookup(one, "r") for one in keys]
    assert found[0] is None and found[-1] is True
    assert [each.lookup(one, "r") for one in keys] == [True] * len(keys)


def test_without_a_daemon_nothing_is_there() -> None:
    client, each = lookups()
    client.there = False
    each.lookup(key(1), "r")
    each.flush()
    assert each.lookup(key(1), "r") is False
    client.there = True
    each.lookup(key(2), "r")
    each.flush()
    client.frames[0][1](None)
    assert each.lookup(key(2), "r") is False or each.lookup(key(2), "r") is None
    each.flush()
    assert each.lookup(key(2), "r") is False


def test_a_load_that_failed_is_a_miss_for_all() -> None:
    client, each = lookups()
    for request in ("r", "s"):
        each.lookup(key(1), request)
    each.flush()
    for _, done in client.frames:
        done(bytes([protocol.KEY_THERE]))
    each.flush()
    assert each.lookup(key(1), "r") is True
    each.mark_miss([key(1), key(9)])
    assert [each.lookup(key(1), request) for request in ("r", "s")] == [False, False]


def test_what_was_known_before_a_reset_is_asked_for_again() -> None:
    client, each = lookups()
    each.lookup(key(1), "r")
    each.flush()
    client.frames[0][1](bytes([protocol.KEY_THERE]))
    each.flush()
    assert each.lookup(key(1), "r") is True
    each.lookup(key(2), "r")
    each.forget()
    each.flush()
    assert len(client.frames) == 1, "what a step before the reset wanted to know is not asked for"
    assert each.lookup(key(1), "r") is None


def test_an_answer_to_a_look_up_of_before_a_reset_counts_for_nothing() -> None:
    client, each = lookups()
    each.lookup(key(1), "r")
    each.flush()
    each.forget()
    client.frames[0][1](bytes([protocol.KEY_THERE]))
    each.flush()
    assert each.lookup(key(1), "r") is None


def test_a_request_that_ended_is_forgotten() -> None:
    client, each = lookups()
    each.lookup(key(1), "r")
    each.flush()
    each.cleanup("r")
    client.frames[0][1](bytes([protocol.KEY_THERE]))
    each.flush()
    assert each.lookup(key(1), "r") is None, "another request of that name asks anew"
    each.flush()
    assert len(client.frames) == 2
