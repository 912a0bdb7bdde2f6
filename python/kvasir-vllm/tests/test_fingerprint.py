from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kvasir_vllm import fingerprint


@pytest.fixture(autouse=True)
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kvasir" / "weights"


def model(folder: Path, tensor: bytes = b"w" * 300_000, config: str = "{}") -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(config)
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes((64).to_bytes(8, "little") + b"h" * 64 + tensor)
    return folder


def test_equal_weights_have_equal_fingerprints_wherever_they_lie(tmp_path: Path) -> None:
    one = fingerprint.of_folder(model(tmp_path / "one"))
    assert one == fingerprint.of_folder(model(tmp_path / "two"))
    assert one is not None and one.startswith("strong:")


@pytest.mark.parametrize("at", [0, 63, 72, 5_000, 150_000, 290_001, 299_999])
def test_a_changed_byte_is_seen_wherever_it_is(tmp_path: Path, at: int) -> None:
    changed = bytearray(b"w" * 300_000)
    changed[at] = 0
    one = fingerprint.of_folder(model(tmp_path / "one"))
    assert one != fingerprint.of_folder(model(tmp_path / "two", bytes(changed)))


def test_other_shapes_configs_and_names_are_other_models(tmp_path: Path) -> None:
    prints = {
        fingerprint.of_folder(model(tmp_path / "a")),
        fingerprint.of_folder(model(tmp_path / "b", b"w" * 300_001)),
        fingerprint.of_folder(model(tmp_path / "c", config='{"rope_theta": 1}')),
    }
    renamed = model(tmp_path / "d")
    (renamed / "model.safetensors").rename(renamed / "other.safetensors")
    prints.add(fingerprint.of_folder(renamed))
    assert len(prints) == 4


def test_what_has_no_weights_has_no_strong_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert fingerprint.of_folder(tmp_path) is None
    assert fingerprint.of_folder(tmp_path / "nowhere") is None


def test_a_weak_fingerprint_says_so_and_depends_on_all_facts() -> None:
    assert fingerprint.weak({"a": 1, "b": 2}) == fingerprint.weak({"b": 2, "a": 1})
    assert fingerprint.weak({"a": 1}) != fingerprint.weak({"a": 2})
    assert fingerprint.weak({}).startswith("weak:")


def test_what_decides_how_weights_are_used_is_in_it_and_what_makes_numbers_of_text_is_not(tmp_path: Path) -> None:
    one = fingerprint.of_folder(model(tmp_path / "one"))
    for name in ("tokenizer.json", "generation_config.json", "chat_template.json"):
        (tmp_path / "one" / name).write_text("[]")
        assert fingerprint.of_folder(tmp_path / "one") == one
    seen = {one}
    for name in ("modeling_mine.py", "preprocessor_config.json", "hf_quant_config.json", "adapter_config.json"):
        (tmp_path / "one" / name).write_text("[]")
        seen.add(fingerprint.of_folder(tmp_path / "one"))
    assert len(seen) == 5


def test_a_file_that_nobody_touched_is_read_once(tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = model(tmp_path / "one")
    monkeypatch.setattr(fingerprint, "SETTLED_NANOS", -1)
    one = fingerprint.of_folder(folder)
    assert len(list(notes.iterdir())) == 2
    monkeypatch.setattr(fingerprint, "READ_BYTES", 0)  # Whoever reads now reads nothing.
    assert fingerprint.of_folder(folder) == one


def test_a_file_that_was_overwritten_with_its_times_kept_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = model(tmp_path / "one")
    monkeypatch.setattr(fingerprint, "SETTLED_NANOS", -1)
    one, file = fingerprint.of_folder(folder), folder / "model.safetensors"
    before, changed = file.stat(), fingerprint.changed_nanos(folder)
    time.sleep(0.02)
    with file.open("r+b") as data:
        data.seek(1000)
        data.write(b"x")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert fingerprint.changed_nanos(folder) > changed
    assert fingerprint.of_folder(folder) != one


def test_what_was_changed_just_now_is_not_noted(tmp_path: Path, notes: Path) -> None:
    fingerprint.of_folder(model(tmp_path / "one"))
    assert not notes.exists()
