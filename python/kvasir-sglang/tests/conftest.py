"""The daemon's fixture is that of kvasir-vllm; SGLang is its unpacked wheel, of which only the contract is imported."""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from pathlib import Path

import pytest

_daemon = Path(__file__).parents[2] / "kvasir-vllm" / "tests" / "conftest.py"
_spec = importlib.util.spec_from_file_location("daemon_fixture", _daemon)
assert _spec is not None and _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
daemon = _module.daemon


@pytest.fixture(scope="session", autouse=True)
def sglang() -> None:
    """Makes SGLang's own file of the contract importable, without what the rest of SGLang imports."""
    folder = os.environ.get("SGLANG")
    if not folder or importlib.util.find_spec("torch") is None:
        pytest.skip("SGLANG does not name an unpacked wheel of SGLang, or there is no torch")
    root = Path(folder) / "sglang"
    for name in ("sglang", "sglang.srt", "sglang.srt.mem_cache", "sglang.srt.mem_cache.storage"):
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules.setdefault(name, package)
