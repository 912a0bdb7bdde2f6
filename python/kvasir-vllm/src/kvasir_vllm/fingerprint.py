"""A fingerprint of a model's weights, so that no block of other weights is ever served.

Strong: the configuration, and of each file of weights its name, its length, its head, its end, and pages from all over it.
Weak, where the weights have no files here: the configuration, the format they are loaded in, and the seed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".npz")
CONFIGS = (
    "config.json",
    "quantization_config.json",
    "quantize_config.json",
    "hf_quant_config.json",
    "adapter_config.json",
)
PAGE = 4096
HEAD_BYTES_MAX = 4 << 20
SAMPLES = 64


def of_folder(folder: Path) -> str | None:
    """The strong fingerprint of a model in a folder, or of a single file; None where no weights are there."""
    if folder.is_file():
        files = [folder]
        root = folder.parent
    elif folder.is_dir():
        root = folder
        files = sorted(f for f in folder.rglob("*") if f.is_file() and f.suffix in WEIGHTS)
    else:
        return None
    if not files:
        return None
    digest = hashlib.sha256(b"kvasir weights 1\n")
    for name in CONFIGS:
        config = root / name
        if config.is_file() and config not in files:
            _part(digest, name, config.read_bytes())
    for file in files:
        _part(digest, str(file.relative_to(root)), _samples(file))
    return "strong:" + digest.hexdigest()


def weak(facts: Mapping[str, object]) -> str:
    """A fingerprint of what is known where there are no files."""
    digest = hashlib.sha256(b"kvasir facts 1\n")
    for name in sorted(facts):
        _part(digest, name, str(facts[name]).encode())
    return "weak:" + digest.hexdigest()


def _part(digest: hashlib._Hash, name: str, content: bytes) -> None:
    label = name.encode(errors="surrogateescape")
    digest.update(len(label).to_bytes(8, "little") + label)
    digest.update(len(content).to_bytes(8, "little") + content)


def _samples(file: Path) -> bytes:
    """The length, the head of the file with its names of tensors, pages at equal distances, and the end."""
    digest = hashlib.sha256()
    with file.open("rb", buffering=0) as data:
        size = os.fstat(data.fileno()).st_size
        digest.update(size.to_bytes(8, "little"))
        digest.update(_read(data, 0, _head_bytes(data, size)))
        for i in range(SAMPLES):
            digest.update(_read(data, i * size // SAMPLES // PAGE * PAGE, PAGE))
        digest.update(_read(data, max(0, size - PAGE), PAGE))
    return digest.digest()


def _head_bytes(data: object, size: int) -> int:
    """A safetensors file begins with the length of its head; of others, a megabyte is taken."""
    first = int.from_bytes(_read(data, 0, 8), "little")
    if 0 < first <= min(size, HEAD_BYTES_MAX):
        return 8 + first
    return min(size, 1 << 20)


def _read(data: object, at: int, length: int) -> bytes:
    fileno: int = data.fileno()  # type: ignore[attr-defined]
    parts = []
    while length > 0:
        part = os.pread(fileno, length, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
        length -= len(part)
    return b"".join(parts)
