"""Adapters in folders, seen as of an engine that was started later or earlier."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from kvasir_vllm import adapters
from kvasir_vllm.adapters import Adapters


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(adapters, "CLOCK_NANOS", -1_000_000_000)  # Engines here begin a second late.
    monkeypatch.setattr(adapters, "WAIT_SECONDS", 30)


def adapter(folder: Path, content: bytes = b"a" * 1000) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter_model.safetensors").write_bytes(content)
    (folder / "adapter_config.json").write_text("{}")
    return folder


def request(path: Path | str, **more: object) -> SimpleNamespace:
    return SimpleNamespace(lora_path=str(path), **more)


def test_another_content_is_another_adapter_wherever_it_lies(tmp_path: Path) -> None:
    same, moved, other = (tmp_path / name for name in ("same", "moved", "other"))
    for folder in (same, moved):
        adapter(folder)
    adapter(other, b"b" * 1000)
    engine = Adapters()
    first = engine.content(request(same))
    assert first is not None
    assert engine.content(request(moved)) == first
    assert engine.content(request(other)) not in (None, first)
    assert engine.content(request(same, is_3d_lora_weight=True)) not in (None, first)


def _overwrite(folder: Path) -> None:
    (folder / "adapter_model.safetensors").write_bytes(b"c" * 1000)


def _replace(folder: Path) -> None:
    (folder / "new").write_bytes(b"c" * 1000)
    (folder / "new").replace(folder / "adapter_model.safetensors")


def _same_times(folder: Path) -> None:
    file = folder / "adapter_model.safetensors"
    before = file.stat()
    _overwrite(folder)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _moved(folder: Path) -> None:
    adapter(folder.with_name("next"), b"c" * 1000)
    folder.rename(folder.with_name("last"))
    folder.with_name("next").rename(folder)


CHANGES: list[Callable[[Path], object]] = [_overwrite, _replace, _same_times, _moved, shutil.rmtree]


@pytest.mark.parametrize("change", CHANGES)
def test_one_that_changes_while_the_engine_may_have_it_stays_out(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder = adapter(tmp_path / "current")
    engine = Adapters()
    before = engine.content(request(folder))
    assert before is not None
    change(folder)
    assert engine.content(request(folder)) is None
    shutil.rmtree(folder, ignore_errors=True)
    adapter(folder)
    assert engine.content(request(folder)) is None, "nobody says which of the two the engine has loaded"
    assert Adapters().content(request(folder)) == before, "until it is started again"


def test_a_link_that_is_turned_elsewhere_is_a_change(tmp_path: Path) -> None:
    one, other, link = adapter(tmp_path / "one"), adapter(tmp_path / "other", b"d"), tmp_path / "current"
    link.symlink_to(one)
    engine = Adapters()
    assert engine.content(request(link)) is not None
    (tmp_path / "next").symlink_to(other)
    (tmp_path / "next").replace(link)
    assert engine.content(request(link)) is None


def test_one_that_was_changed_after_the_engine_began_stays_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapters, "CLOCK_NANOS", 1_000_000_000)
    folder = adapter(tmp_path / "current")
    assert Adapters().content(request(folder)) is None


@pytest.mark.parametrize("name", ["org/adapter", "", "file"])
def test_one_without_a_folder_here_stays_out(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_bytes(b"x")
    assert Adapters().content(request(name)) is None


def test_one_that_takes_long_to_read_is_out_until_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = adapter(tmp_path / "current")
    engine = Adapters()
    monkeypatch.setattr(adapters, "WAIT_SECONDS", 0)
    engine.content(request(folder))
    monkeypatch.setattr(adapters, "WAIT_SECONDS", 30)
    assert engine.content(request(folder)) is not None
