"""Starts the real daemon, where the environment says how: KVASIR_TIER_DAEMON is a command to which a folder, the bytes of
host memory and those of the disk are added. Its socket is then ``sock`` in the folder."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MIB = 1 << 20


class Daemon:
    def __init__(self, folder: Path) -> None:
        command = os.environ.get("KVASIR_TIER_DAEMON")
        if not command:
            pytest.skip("KVASIR_TIER_DAEMON does not say how to start the daemon")
        self.folder = folder
        self.path = str(folder / "sock")
        self._command = [*shlex.split(command), str(folder), str(8 * MIB), str(8 * MIB)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                try:
                    probe.connect(self.path)
                    return
                except OSError:
                    assert self._process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        raise AssertionError("the daemon does not listen")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    started = Daemon(tmp_path)
    yield started
    started.kill()
