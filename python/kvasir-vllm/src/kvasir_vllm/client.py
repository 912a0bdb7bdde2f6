"""A connection to the daemon that comes back by itself, and never makes its caller wait.

Callers put requests into a bounded queue and get them back through a callback, answered or failed. Whoever calls ``ask`` or
``poll`` sends and reads what it can without waiting: a scheduler that polls once a step needs no other thread, and so no turn
at the interpreter's lock, for which a busy scheduler makes others wait five milliseconds. A thread of our own connects, looks
after what nobody polls for, and tells of failures. A request fails only when the daemon cannot write to our rows any more:
when its connection is closed, by it or by the kernel.

    away --connected, welcomed--> serving --closed--> away, after a pause
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import logging
import os
import select
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
PAUSE_REFUSED = 60.0
REST_SECONDS = 0.02
READ_BYTES = 1 << 18


@dataclass
class Request:
    """Something to ask for: how to write it, and whom to tell. The body is None where nobody answered."""

    frame: Callable[[int], bytes]
    done: Callable[[bytes | None], None]
    id: int = field(default=0)
    answered: bool = field(default=True)


class _Left(ConnectionError):
    """The daemon has closed the connection because we left."""


@dataclass
class _Link:
    """A connection, what is to go out on it, and what came in and is not whole yet."""

    connection: socket.socket
    out: bytearray = field(default_factory=bytearray)
    read: bytearray = field(default_factory=bytearray)
    leaving: bool = False


class Nobody:
    """What an engine without a daemon has in place of a client: nothing is found, nothing is kept."""

    connected = False
    wants_ended = False

    def wait(self, seconds: float) -> bool:
        return False

    def ask(self, frame: Callable[[int], bytes], done: Callable[[bytes | None], None]) -> bool:
        return False

    def tell(self, frame: bytes) -> None:
        """Nobody hears it."""

    def poll(self) -> None:
        """Nothing was asked."""

    def close(self) -> None:
        """Nothing is open."""


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
        self._turn = threading.Lock()  # who has it may use the link
        self._link: _Link | None = None
        self._broken: Exception | None = None
        self.connects = 0
        self.wants_ended = False
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
        self.poll()
        return True

    def tell(self, frame: bytes) -> None:
        """Queues something that has no answer; forgotten where there is no daemon."""
        with self._lock:
            if self._closed or not self._connected or len(self._waiting) >= WAITING_MAX:
                return
            self._waiting.append(Request(lambda _: frame, lambda _: None, answered=False))
        self.poll()

    def poll(self) -> None:
        """Sends what waits and handles what was answered, as far as that goes without waiting."""
        if not self._turn.acquire(blocking=False):
            self._wake()  # Whoever has the turn may be past what we want to send.
            return
        try:
            self._exchange()
        except (OSError, protocol.ProtocolError) as e:
            self._broken = e
            self._wake()
        finally:
            self._turn.release()

    def close(self) -> None:
        """Leaves; what is under way is ended first by the daemon. Waits for it, but not for ever."""
        with self._lock:
            self._closed = True
        self._wake()
        self._thread.join(timeout=10)

    def _wake(self) -> None:
        if threading.current_thread() is self._thread:
            return
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
                if isinstance(e, protocol.Refused) and e.code in protocol.REFUSED_FOR_GOOD:
                    pause = PAUSE_REFUSED
            self._fail_all()
            self._failed = True
            if not self._closed:
                selectors_wait(self._wake_read, pause)
                pause = max(pause, min(PAUSE_MAX, pause * 2))
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
            self.wants_ended = welcome.wants_ended
            self._connected = True
            self.connects += 1
        logger.info("Kvasir tier at %s: connected, namespace %s", self._path, welcome.digest.hex()[:16])
        return connection

    def _serve(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        link = _Link(connection)
        with self._turn:
            self._link, self._broken = link, None
        try:
            while True:
                with self._turn:
                    self._exchange()
                if self._closed and not link.out and not link.leaving:
                    connection.shutdown(socket.SHUT_WR)
                    link.leaving = True
                self._rest(link)
                if self._broken is not None:
                    raise self._broken
        except _Left:
            return
        finally:
            with self._turn:
                self._link = None

    def _rest(self, link: _Link) -> None:
        """Waits until there may be something to do; while a caller may poll for it, for a while only."""
        with self._lock:
            busy = bool(self._unanswered or self._waiting) and not self._closed
        events = (0 if busy else select.POLLIN) | (select.POLLOUT if link.out else 0)
        watched = select.poll()
        watched.register(self._wake_read, select.POLLIN)
        if events:
            watched.register(link.connection, events)
        watched.poll(REST_SECONDS * 1000 if busy else None)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, 4096)

    # With the turn.

    def _exchange(self) -> None:
        link = self._link
        if link is None or self._broken is not None:
            return
        while True:
            if not link.out:
                self._take(link.out)
            if not link.out:
                break
            try:
                sent = link.connection.send(link.out)
            except BlockingIOError:
                self._wake()
                break
            del link.out[:sent]
        while True:
            try:
                data = link.connection.recv(READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                raise _Left() if link.leaving else ConnectionError("the daemon has closed the connection")
            link.read += data
            self._answers(link.read)
            if len(data) < READ_BYTES:
                return

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
