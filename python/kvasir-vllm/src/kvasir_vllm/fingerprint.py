"""A fingerprint of a model's weights, so that no block of other weights is ever served.

Strong: all bytes of all files of weights, and of what says how they are used. A file that was read before, and that nobody has
touched since, is not read again.
Weak, where the weights have no files here: the format they are loaded in, and the seed.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path

WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".npz")
SETTINGS = (".json", ".py")
# Keys are of the tokens' numbers: whatever makes numbers of texts, or chooses among answers, is not in them.
UNUSED = frozenset(
    """tokenizer.json tokenizer_config.json special_tokens_map.json added_tokens.json vocab.json generation_config.json
    chat_template.json""".split()
)
READ_BYTES = 4 << 20
THREADS_MAX = 8
# A file that was changed so short a while ago may be changed once more without another time on it.
SETTLED_NANOS = 2_000_000_000


def files(folder: Path) -> list[Path]:
    """What the fingerprint is of: nothing, where there are no weights."""
    if folder.is_file():
        weights, root = [folder], folder.parent
    elif folder.is_dir():
        root = folder
        weights = sorted(f for f in folder.rglob("*") if f.is_file() and f.suffix in WEIGHTS)
    else:
        return []
    if not weights:
        return []
    settings = [f for f in root.iterdir() if f.is_file() and f.suffix in SETTINGS and f.name not in UNUSED]
    return weights + sorted(settings)


def of_folder(folder: Path) -> str | None:
    """The strong fingerprint of a model in a folder, or of a single file; None where no weights are there."""
    found = files(folder)
    if not found:
        return None
    root = folder.parent if folder.is_file() else folder
    with concurrent.futures.ThreadPoolExecutor(min(THREADS_MAX, os.cpu_count() or 1)) as threads:
        digests = list(threads.map(_content, found))
    digest = hashlib.sha256(b"kvasir weights 2\n")
    for file, content in zip(found, digests, strict=True):
        _part(digest, str(file.relative_to(root)), content.encode())
    return "strong:" + digest.hexdigest()


def changed_nanos(folder: Path) -> int:
    """When the youngest of the files was touched; not even who copies a file with its times can set that back."""
    return max((f.stat().st_ctime_ns for f in files(folder)), default=0)


@functools.cache
def began_nanos() -> int:
    """When this process began, by the clock of files."""
    with open("/proc/self/stat", "rb") as said, open("/proc/uptime") as up:
        ticks = int(said.read().rpartition(b")")[2].split()[19])
        seconds = float(up.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time_ns() - int(seconds * 1e9)


def weak(facts: Mapping[str, object]) -> str:
    """A fingerprint of what is known where there are no files."""
    digest = hashlib.sha256(b"kvasir facts 2\n")
    for name in sorted(facts):
        _part(digest, name, str(facts[name]).encode())
    return "weak:" + digest.hexdigest()


def _part(digest: hashlib._Hash, name: str, content: bytes) -> None:
    label = name.encode(errors="surrogateescape")
    digest.update(len(label).to_bytes(8, "little") + label)
    digest.update(len(content).to_bytes(8, "little") + content)


def _content(file: Path) -> str:
    """The SHA-256 of its bytes, or what it was when the file was as it is now."""
    with file.open("rb", buffering=0) as data:
        before = _state(os.fstat(data.fileno()))
        noted = _notes() / hashlib.sha256(repr(before).encode()).hexdigest()
        with contextlib.suppress(OSError):
            said = noted.read_text()
            if len(said) == 64:
                return said
        digest = hashlib.sha256()
        while part := data.read(READ_BYTES):
            digest.update(part)
        if _state(os.fstat(data.fileno())) != before:
            raise OSError(f"{file} was changed while it was read")
    if time.time_ns() - before[-1] > SETTLED_NANOS:
        _note(noted, digest.hexdigest())
    return digest.hexdigest()


def _state(stat: os.stat_result) -> tuple[int, ...]:
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _notes() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kvasir" / "weights"


def _note(file: Path, text: str) -> None:
    """Without it the next start only takes longer."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        half = file.with_name(f"{file.name}.{os.getpid()}")
        half.write_text(text)
        half.replace(file)
