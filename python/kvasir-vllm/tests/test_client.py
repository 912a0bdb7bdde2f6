"""The client against the real daemon."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Daemon

from kvasir_vllm import forget, protocol, tenants
from kvasir_vllm.client import Client

ROW = 20_000
ROWS = 32
NAMESPACE = protocol.namespace(
    {"chunk-tokens": 32, "model": "m", "row-bytes": ROW, "weights": "strong:ab"}.items()
)


class Engine:
    """A client with rows of its own, in a file."""

    def __init__(self, path: str, file: Path) -> None:
        self.file = file
        file.write_bytes(bytes(ROW * ROWS))
        self.client = Client(path, protocol.hello(ROW, ROWS, str(file), "pytest", NAMESPACE))

    def await_connects(self, count: int) -> None:
        end = time.monotonic() + 30
        while not (self.client.connected and self.client.connects >= count):
            assert time.monotonic() < end, "not connected"
            time.sleep(0.01)

    def ask(self, frame: Callable[[int], bytes]) -> bytes | None:
        box: list[bytes | None] = []
        told = threading.Event()

        def done(body: bytes | None) -> None:
            box.append(body)
            told.set()

        if not self.client.ask(frame, done):
            return None
        assert told.wait(30), "no answer"
        return box[0]

    def put(self, row: int, chunk: int) -> None:
        with self.file.open("r+b") as rows:
            rows.seek(row * ROW)
            rows.write(content(chunk))

    def row(self, row: int) -> bytes:
        with self.file.open("rb") as rows:
            rows.seek(row * ROW)
            return rows.read(ROW)

    def store(self, *chunks: int) -> bytes | None:
        for row, chunk in enumerate(chunks):
            self.put(row, chunk)
        places = list(range(len(chunks)))
        return self.ask(lambda n: protocol.store(n, bytes(16), None, places, places, keys(chunks)))

    def load(self, *chunks: int) -> bytes | None:
        return self.ask(lambda n: protocol.load(n, list(range(len(chunks))), keys(chunks)))

    def look(self, *chunks: int) -> bytes | None:
        return self.ask(lambda n: protocol.lookup(n, keys(chunks)))

    def stats(self) -> bytes:
        return self.ask(protocol.stats) or b""


def content(chunk: int) -> bytes:
    return chunk.to_bytes(4, "little") * (ROW // 4)


def keys(chunks: tuple[int, ...]) -> list[bytes]:
    return [protocol.key(b"%032d" % chunk, 0) for chunk in chunks]


def test_what_is_stored_is_loaded(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    engine = Engine(daemon.path, tmp_path / "rows")
    engine.await_connects(1)
    assert engine.look(1, 2) == b"\0\0"
    assert engine.store(1, 2) == b"\0\0"
    engine.client.tell(protocol.measured(1000, 5_000_000))
    assert engine.look(1, 2, 3) == b"\1\1\0"
    assert engine.load(2, 1, 3) == b"\0\0\1"
    assert engine.row(0) == content(2) and engine.row(1) == content(1)
    engine.client.close()


def test_a_daemon_that_is_killed_costs_misses_and_is_found_again(daemon: Daemon, tmp_path: Path) -> None:
    engine = Engine(daemon.path, tmp_path / "rows")
    assert engine.look(1) is None and engine.store(1) is None
    daemon.start()
    engine.await_connects(1)
    assert engine.store(*range(20)) == bytes(20)
    end = time.monotonic() + 20
    while b'"disk_stored":20,' not in engine.stats():
        assert time.monotonic() < end, engine.stats()
        time.sleep(0.02)
    daemon.kill()
    while engine.client.connected:
        time.sleep(0.01)
    assert engine.look(1) is None and engine.load(1) is None
    daemon.start()
    engine.await_connects(2)
    assert engine.look(*range(20)) == b"\1" * 20
    assert engine.load(*range(20)) == bytes(20)
    assert all(engine.row(i) == content(i) for i in range(20))
    engine.client.close()


def test_requests_under_way_when_it_is_killed_are_told(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    engine = Engine(daemon.path, tmp_path / "rows")
    engine.await_connects(1)
    told: list[bytes | None] = []
    taken = 0
    for i in range(2000):
        if i == 1000:
            daemon.kill()
        taken += engine.client.ask(lambda n: protocol.lookup(n, keys((1,))), told.append)
    end = time.monotonic() + 30
    while len(told) < taken:
        assert time.monotonic() < end, f"{len(told)} of {taken} told"
        time.sleep(0.01)
    engine.client.close()


def test_who_leaves_waits_for_the_daemon(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    engine = Engine(daemon.path, tmp_path / "rows")
    engine.await_connects(1)
    told: list[bytes | None] = []
    engine.client.ask(lambda n: protocol.lookup(n, keys((1,))), told.append)
    engine.client.close()
    assert told == [b"\0"]
    assert not engine.client.ask(lambda n: protocol.lookup(n, keys((1,))), told.append)


def test_a_tenant_is_forgotten(daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    daemon.start()
    engine = Engine(daemon.path, tmp_path / "rows")
    engine.await_connects(1)
    monkeypatch.setenv("KVASIR_TENANT_KEY", "secret")
    acme = tenants.Tenants("secret").of({"kvasir_tenant": "acme"})
    assert engine.ask(lambda n: protocol.store(n, acme, None, [0, 1], [0, 1], keys((1, 2)))) == b"\0\0"
    assert engine.store(3) == b"\0"
    folder = tmp_path / "spaces"
    (folder / "one").mkdir(parents=True)
    (folder / "one" / "namespace").write_text(NAMESPACE)
    assert forget.main(["acme", "--socket", daemon.path, "--folder", str(folder)]) == 0
    assert engine.look(1, 2, 3) == b"\0\0\1"
    engine.client.close()


def test_a_scheduler_that_polls_needs_no_other_thread(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    engine = Engine(daemon.path, tmp_path / "rows")
    engine.await_connects(1)
    threads: list[threading.Thread] = []
    asked = 0
    for _ in range(20):
        asked += engine.client.ask(
            lambda n: protocol.lookup(n, keys((1,))), lambda _: threads.append(threading.current_thread())
        )
        end = time.monotonic() + 30
        while len(threads) < asked and time.monotonic() < end:
            engine.client.poll()
    assert len(threads) == asked == 20
    assert threads.count(threading.current_thread()) >= 10
    engine.client.close()
