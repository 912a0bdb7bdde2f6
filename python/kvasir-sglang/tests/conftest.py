"""The daemon's fixture is that of kvasir-vllm; SGLang is its unpacked wheel, of which only the contract is imported."""

from __future__ import annotations

import dataclasses
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


@dataclasses.dataclass
class Arguments:
    """Some of SGLang's options, under its names."""

    model_path: str = "m"
    json_model_override_args: str = "{}"
    quantization: str | None = None
    context_length: int | None = None
    revision: str | None = None
    dtype: str = "auto"
    kv_cache_dtype: str = "auto"
    load_format: str = "auto"
    attention_backend: str | None = None
    page_size: int = 16
    enable_lora: bool = False
    lora_paths: object = None
    speculative_draft_model_path: str | None = None
    speculative_algorithm: str | None = None
    hicache_mem_layout: str = "layer_first"
    port: int = 30000
    random_seed: int = 1
    nccl_port: int = 2
    served_model_name: str = "m"
    mem_fraction_static: float = 0.8
    schedule_policy: str = "fcfs"
    added_by_a_later_sglang: int = 0


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
    sys.modules["sglang"].__version__ = "0.5.23"  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def server(sglang: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> types.SimpleNamespace:
    """What SGLang knows of its options and of the model's configuration: its own modules for that need a GPU's libraries."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said = types.SimpleNamespace(arguments=Arguments(), config={"rope_theta": 1e4})
    context = types.ModuleType("sglang.srt.runtime_context")
    context.get_server_args = lambda: said.arguments  # type: ignore[attr-defined]
    model = types.ModuleType("sglang.srt.configs.model_config")

    def made(_: object) -> types.SimpleNamespace:
        return types.SimpleNamespace(hf_config=said.config, context_len=1024, dtype="bf16", quantization=None)

    model.ModelConfig = types.SimpleNamespace(from_server_args=made)  # type: ignore[attr-defined]
    for module in (context, types.ModuleType("sglang.srt.configs"), model):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return said
