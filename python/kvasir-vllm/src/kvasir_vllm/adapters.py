"""What is in an adapter's files, as the engine loaded them.

vLLM's hash has an adapter's name and path. It does not tell when it loads an adapter, nor when it loads it again, so only one is
known whose files nobody has touched since before the engine could load any: all others stay out of the tier, until the engine
is started again.
"""

from __future__ import annotations

import concurrent.futures
import logging
import os
import time
from pathlib import Path
from typing import Any

from kvasir_vllm import fingerprint

logger = logging.getLogger("vllm.kvasir")

WAIT_SECONDS = 0.05
CLOCK_NANOS = 1_000_000_000
OTHERS = ("base_model_name", "is_3d_lora_weight", "tensorizer_config_dict", "long_lora_max_len")

State = tuple[tuple[Any, ...], ...]


class Adapters:
    """Adapters by their path; on the scheduler's thread, but for the reading of large files."""

    def __init__(self) -> None:
        self._since = time.time_ns() - CLOCK_NANOS
        self._known: dict[str, tuple[State, concurrent.futures.Future[str | None]]] = {}
        self._out: set[str] = set()
        self._reader = concurrent.futures.ThreadPoolExecutor(1, "kvasir-adapters")

    def content(self, request: Any) -> bytes | None:
        """What tells its blocks from those of another content; None where nobody can say what it is."""
        path = str(request.lora_path)
        if path in self._out:
            return None
        state = _state(Path(path))
        known = self._known.get(path)
        if known is None:
            if state is None:
                return self._leave(path, "there is no such folder here: give vLLM the path of a folder")
            if max(each[-1] for each in state) >= self._since:
                return self._leave(path, "its files were changed after the engine was started")
            known = state, self._reader.submit(fingerprint.of_folder, Path(path))
            self._known[path] = known
        if state != known[0]:
            return self._leave(path, "its files were changed while the engine may have them loaded")
        try:
            said = known[1].result(WAIT_SECONDS)
        except concurrent.futures.TimeoutError:
            return None
        except OSError as e:
            return self._leave(path, str(e))
        if said is None or _state(Path(path)) != state:
            return self._leave(path, "there are no files of weights, or they are being changed")
        return "\n".join([said, *(f"{name}={getattr(request, name, None)}" for name in OTHERS)]).encode()

    def close(self) -> None:
        self._reader.shutdown(wait=False, cancel_futures=True)

    def _leave(self, path: str, why: str) -> None:
        self._out.add(path)
        self._known.pop(path, None)
        logger.warning("Kvasir tier: blocks of the adapter %s are neither stored nor loaded until the engine is started again: %s", path, why)


def _state(folder: Path) -> State | None:
    """All that changes when a file, the folder, or a link on the way to it does; last of each, when that was."""
    try:
        with os.scandir(folder) as entries:
            found = [_stat(e.name, os.stat(e.path)) for e in entries]
        found.append(_stat("", os.stat(folder)))
        places = [folder.absolute(), *folder.absolute().parents]
        found += [_stat(str(p), os.lstat(p)) for p in places if p.is_symlink()]
    except OSError:
        return None
    return tuple(sorted(found))


def _stat(name: str, stat: os.stat_result) -> tuple[Any, ...]:
    return name, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
