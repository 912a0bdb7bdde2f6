"""Rows in shared memory that pages pass through on their way to the daemon and back.

SGLang's host pool is not shared memory, so a page is copied once between the pool and a row, and once by the daemon. A row
belongs to one request until the daemon has answered it, also where whoever asked has stopped waiting.
"""

from __future__ import annotations

import collections
import mmap
import os
import threading
from pathlib import Path

PAGE = 4096


class Ring:
    """A file of rows in /dev/shm; deleted when it is closed."""

    def __init__(self, name: str, row_bytes: int, ring_bytes: int, folder: Path = Path("/dev/shm")) -> None:
        self.row_bytes = -(-row_bytes // PAGE) * PAGE
        self.rows = max(1, ring_bytes // self.row_bytes)
        self.path = folder / name
        handle = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        try:
            os.posix_fallocate(handle, 0, self.rows * self.row_bytes)
            self._memory = mmap.mmap(handle, self.rows * self.row_bytes)
        except BaseException:
            self.path.unlink()
            raise
        finally:
            os.close(handle)
        self._free = collections.deque(range(self.rows))
        self._changed = threading.Condition()

    def row(self, row: int) -> memoryview:
        start = row * self.row_bytes
        return memoryview(self._memory)[start : start + self.row_bytes]

    def take(self, most: int, seconds: float) -> list[int]:
        """Some rows, at least one where there is one within that time."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._free), seconds)
            return [self._free.popleft() for _ in range(min(most, len(self._free)))]

    def give(self, rows: list[int]) -> None:
        with self._changed:
            self._free.extend(rows)
            self._changed.notify_all()

    def close(self) -> None:
        self.path.unlink(missing_ok=True)
