"""A connection to the daemon that comes back by itself, and never makes its caller wait.

One thread owns the socket: it connects, sends what is queued and reads what is answered. Callers put requests into a
bounded queue and get them back through a callback, on that thread, answered or failed. A request fails only when the daemon
cannot write to our rows any more: when its connection is closed, by it or by the kernel.

    away --connected, welcomed--> serving --closed--> away, after a pause
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import logging
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from kvasir_vllm import protocol

logger = logging.getLogger("vllm.kvasir")

PAUSE_MIN = 0.05
PAUSE_MAX = 2.0
CONNECT_SECONDS_MAX = 10.0
WAITING_MAX = 4096
UNANSWERED_MAX = 256


@dataclass
class Request:
    """Something to ask for: how to write it, and whom to tell. The body is None where nobody answered."""

    frame: Callable[[int], bytes]
    done: Callable[[bytes | None], None]
    id: int = field(default=0)
    answered: bool = field(default=True)


class Client:
    """What one engine says to the daemon."""

    def __init__(self, path: str, hello: bytes) -> None:
        self._path = path
        self._hello = hello
        self._lock = threading.Lock()
        self._waiting: collections.deque[Request] = collections.deque()
        self._unanswered: dict[int, Request] = {}
        self._numbers = itertools.count(1)
        self._connected = False
        self._failed = False
        self._closed = False
        self.connects = 0
        self.dropped = 0
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._thread = threading.Thread(target=self._run, name="kvasir-tier", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> bool:
        return self._connected

    def wait(self, seconds: float) -> bool:
        """Waits for the first welcome, as long as a daemon is there that may still say it; whether it did."""
        end = time.monotonic() + seconds
        while not self._connected and not self._failed and time.monotonic() < end:
            time.sleep(0.02)
        return self._connected

    def ask(self, frame: Callable[[int], bytes], done: Callable[[bytes | None], None]) -> bool:
        """Queues a request; False, and no call of done, where there is no daemon or too much waits."""
        with self._lock:
            if self._closed or not self._connected or len(self._waiting) >= WAITING_MAX:
                self.dropped += 1
                return False
            self._waiting.append(Request(frame, done))
        self._wake()
        return True

    def tell(self, frame: bytes) -> None:
        """Queues something that has no answer; forgotten where there is no daemon."""
        with self._lock:
            if self._closed or not self._connected or len(self._waiting) >= WAITING_MAX:
                return
            self._waiting.append(Request(lambda _: frame, lambda _: None, answered=False))
        self._wake()

    def close(self) -> None:
        """Leaves; what is under way is ended first by the daemon. Waits for it, but not for ever."""
        with self._lock:
            self._closed = True
        self._wake()
        self._thread.join(timeout=10)

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            os.write(self._wake_write, b"\0")

    # On the thread.

    def _run(self) -> None:
        pause = PAUSE_MIN
        told = ""
        while not self._closed:
            try:
                with self._connect() as connection:
                    pause, told = PAUSE_MIN, ""
                    self._serve(connection)
            except (OSError, protocol.ProtocolError) as e:
                if str(e) != told and not self._closed:
                    logger.warning("Kvasir tier at %s: %s; going on without it", self._path, e)
                    told = str(e)
            self._fail_all()
            self._failed = True
            if not self._closed:
                selectors_wait(self._wake_read, pause)
                pause = min(PAUSE_MAX, pause * 2)
        self._fail_all()

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(CONNECT_SECONDS_MAX)
            connection.connect(self._path)
            connection.settimeout(None)  # The daemon may take its time to open the namespace.
            connection.sendall(self._hello)
            welcome = protocol.parse(_receive(connection))
            if not isinstance(welcome, protocol.Welcome):
                raise protocol.ProtocolError("no welcome")
        except BaseException:
            connection.close()
            raise
        with self._lock:
            self._connected = True
            self.connects += 1
        logger.info("Kvasir tier at %s: connected, namespace %s", self._path, welcome.digest.hex()[:16])
        return connection

    def _serve(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        out = bytearray()
        into = bytearray()
        leaving = False
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while True:
                if not out:
                    self._take(out)
                if self._closed and not out and not leaving:
                    connection.shutdown(socket.SHUT_WR)
                    leaving = True
                events = selectors.EVENT_READ | (selectors.EVENT_WRITE if out else 0)
                selector.modify(connection, events)
                for ready, mask in selector.select():
                    if ready.fd == self._wake_read:
                        with contextlib.suppress(BlockingIOError):
                            os.read(self._wake_read, 4096)
                        continue
                    if mask & selectors.EVENT_WRITE:
                        sent = connection.send(out)
                        del out[:sent]
                    if mask & selectors.EVENT_READ:
                        data = connection.recv(1 << 18)
                        if not data:
                            if leaving:
                                return
                            raise ConnectionError("the daemon has closed the connection")
                        into += data
                        self._answers(into)

    def _take(self, out: bytearray) -> None:
        while len(out) < (1 << 18):
            with self._lock:
                if not self._waiting or len(self._unanswered) >= UNANSWERED_MAX:
                    return
                request = self._waiting.popleft()
                request.id = next(self._numbers)
                if request.answered:
                    self._unanswered[request.id] = request
            out += request.frame(request.id)

    def _answers(self, into: bytearray) -> None:
        while len(into) >= 4:
            length = protocol.body_length(bytes(into[:4]))
            if len(into) < 4 + length:
                return
            frame = bytes(into[4 : 4 + length])
            del into[: 4 + length]
            answer = protocol.parse(frame)
            if not isinstance(answer, protocol.Answer):
                raise protocol.ProtocolError("a second welcome")
            with self._lock:
                request = self._unanswered.pop(answer.id, None)
            if request is None:
                raise protocol.ProtocolError(f"an answer to request {answer.id}, which is not under way")
            _tell(request, answer.body)

    def _fail_all(self) -> None:
        with self._lock:
            self._connected = False
            failed = [*self._unanswered.values(), *self._waiting]
            self._unanswered.clear()
            self._waiting.clear()
        for request in failed:
            _tell(request, None)


def _tell(request: Request, body: bytes | None) -> None:
    try:
        request.done(body)
    except Exception:
        logger.exception("Kvasir tier: an answer could not be handled")


def selectors_wait(fd: int, seconds: float) -> None:
    """Waits so long, or until the pipe has something; then empties it."""
    end = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while (left := end - time.monotonic()) > 0:
            if selector.select(left):
                with contextlib.suppress(BlockingIOError):
                    os.read(fd, 4096)
                return


def _receive(connection: socket.socket) -> bytes:
    return _exactly(connection, protocol.body_length(_exactly(connection, 4)))


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise ConnectionError("the daemon has closed the connection")
        data += part
    return bytes(data)
