from __future__ import annotations

from pathlib import Path

import pytest

from kvasir_vllm import fingerprint


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


@pytest.mark.parametrize("at", [0, 63, 72, 150_000, 299_999])
def test_a_changed_page_that_is_sampled_is_seen(tmp_path: Path, at: int) -> None:
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
