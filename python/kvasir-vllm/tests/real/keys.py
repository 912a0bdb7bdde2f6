"""Holds the keys of blocks against real vLLM: what changes keys and values changes the key, and nothing else does.

pytest tests/real/keys.py, where vLLM is installed. No engine is started: configurations are made as `vllm serve` makes them.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import models
import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
vllm = pytest.importorskip("vllm")

from kvasir_vllm import effective, tier  # noqa: E402

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024, "rope_theta": 10000.0}
ROW = 1 << 16


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models")
    models.model(made / "plain")
    models.model(made / "other", seed=8)
    models.model(made / "windows", sliding_window=96)
    models.model(made / "small", num_hidden_layers=1)
    return made


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in list(os.environ):
        if effective.ENVIRONMENT.match(name):
            monkeypatch.delenv(name)
    yield


def configured(model: Path, **options: Any) -> Any:
    from vllm.engine.arg_utils import EngineArgs
    from vllm.model_executor.models import registry

    # vLLM looks at a model's class in a process of its own, which takes half a minute each time.
    registry._run_in_subprocess = lambda function: function()
    usual: dict[str, Any] = {"max_model_len": 1024, "dtype": "float32", "enforce_eager": True, "skip_tokenizer_init": True}
    transfer = {"kv_connector": "OffloadingConnector", "kv_role": "kv_both", "kv_connector_extra_config": {}}
    chosen = usual | {"kv_transfer_config": transfer} | options
    return EngineArgs(model=str(model), **chosen).create_engine_config()


def values(config: Any, extra: dict[str, Any] | None = None) -> dict[str, object]:
    """The namespace of an engine with that configuration, with what vLLM itself tells a tier of it."""
    import torch
    from vllm.distributed.kv_transfer.kv_connector.v1.offloading.config import build_offloading_config
    from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec

    config.kv_transfer_config.kv_connector_extra_config = extra or {}
    config.cache_config.hash_block_size = config.cache_config.block_size
    pages = FullAttentionSpec(block_size=config.cache_config.block_size, num_kv_heads=2, head_size=32, dtype=torch.float32)
    caches = KVCacheConfig(num_blocks=8, kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer.0", "layer.1"], pages)])
    spec = SimpleNamespace(vllm_config=config, config=build_offloading_config(config, caches))
    found = effective.vllm_config(spec)
    assert found is config
    return tier.namespace(spec, found, ROW)


def differ(one: dict[str, object], other: dict[str, object]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "--hf-overrides, rope": ({"hf_overrides": {"rope_parameters": YARN}}, "model-config"),
    "--hf-overrides, base": ({"hf_overrides": {"rope_parameters": {"rope_type": "default", "rope_theta": 5e5}}}, "model-config"),
    "--hf-overrides, a function": ({"hf_overrides": lambda config: config.update({"rms_norm_eps": 1e-4}) or config}, "model-config"),
    "--max-model-len": ({"max_model_len": 512}, "model-config"),
    "--dtype": ({"dtype": "bfloat16"}, "model-config"),
    "--kv-cache-dtype": ({"kv_cache_dtype": "fp8_e5m2"}, "cache-config"),
    "--block-size": ({"block_size": 64}, "tokens-per-hash"),
    "--load-format dummy": ({"load_format": "dummy"}, "weights"),
    "--load-format": ({"load_format": "safetensors"}, "load-config"),
    "--ignore-patterns": ({"ignore_patterns": ["x*"]}, "load-config"),
    "--revision": ({"revision": "0123456"}, "model-config"),
    "--code-revision": ({"code_revision": "0123456"}, "model-config"),
    "--model-impl": ({"model_impl": "transformers"}, "model-config"),
    "--prefix-caching-hash-algo": ({"prefix_caching_hash_algo": "sha256_cbor"}, "cache-config"),
    "--enable-lora": ({"enable_lora": True}, "lora-config"),
    "--attention-backend": ({"attention_backend": "CPU_ATTN"}, "attention-config"),
    "--tensor-parallel-size": ({"tensor_parallel_size": 2}, "tp-size"),
    "--speculative-config": ({"speculative_config": {"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 3}}, "speculative-config"),
}
SAME: dict[str, dict[str, Any]] = {
    "nothing": {},
    "--gpu-memory-utilization": {"gpu_memory_utilization": 0.5},
    "--served-model-name": {"served_model_name": "another"},
    "--max-num-seqs": {"max_num_seqs": 3},
    "--seed": {"seed": 5},
    "--max-logprobs": {"max_logprobs": 3},
    "--no-enable-prefix-caching": {"enable_prefix_caching": False},
    "--num-gpu-blocks-override": {"num_gpu_blocks_override": 77},
}


@pytest.mark.parametrize("option", CHANGES)
def test_an_option_that_changes_keys_and_values_changes_the_namespace(folder: Path, option: str) -> None:
    options, where = CHANGES[option]
    plain = values(configured(folder / "plain"))
    other = values(configured(folder / "plain", **options))
    assert where in differ(plain, other), (option, plain, other)


@pytest.mark.parametrize("option", SAME)
def test_an_option_that_changes_neither_changes_nothing(folder: Path, option: str) -> None:
    plain = values(configured(folder / "plain"))
    assert differ(plain, values(configured(folder / "plain", **SAME[option]))) == set()


def test_quantisation_at_load_is_in_the_namespace(folder: Path) -> None:
    plain = values(configured(folder / "plain", dtype="bfloat16"))
    fp8 = values(configured(folder / "plain", dtype="bfloat16", quantization="fp8_per_tensor"))
    assert "model-config" in differ(plain, fp8)


def test_a_copy_elsewhere_has_the_same_namespace(folder: Path, tmp_path: Path) -> None:
    moved = models.copy(folder / "plain", tmp_path / "plain")
    assert differ(values(configured(folder / "plain")), values(configured(moved))) == set()


def _one_number(folder: Path) -> None:
    file = folder / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[len(data) // 3 + 1234] ^= 1
    file.write_bytes(data)


FILES: dict[str, Callable[[Path], object]] = {
    "one bit of the weights": _one_number,
    "code beside the weights": lambda folder: (folder / "modeling_mine.py").write_text("#"),
    "how images are made smaller": lambda folder: (folder / "preprocessor_config.json").write_text("{}"),
    "quantisation": lambda folder: (folder / "hf_quant_config.json").write_text("{}"),
}


@pytest.mark.parametrize("what", FILES)
def test_a_file_that_changes_keys_and_values_changes_the_namespace(folder: Path, tmp_path: Path, what: str) -> None:
    copied = models.copy(folder / "plain", tmp_path / "plain")
    before = values(configured(copied))
    FILES[what](copied)
    assert "weights" in differ(before, values(configured(copied)))


def test_sliding_windows_and_their_switch_are_in_the_namespace(folder: Path) -> None:
    windows = folder / "windows"
    assert "model-config" in differ(values(configured(folder / "plain")), values(configured(windows)))
    short = values(configured(windows, max_model_len=64))
    assert "model-config" in differ(short, values(configured(windows, max_model_len=64, disable_sliding_window=True)))


def test_another_model_that_guesses_is_in_the_namespace(folder: Path) -> None:
    def guessing(draft: str) -> dict[str, object]:
        said = {"method": "draft_model", "model": str(folder / draft), "num_speculative_tokens": 2, "draft_tensor_parallel_size": 1}
        return values(configured(folder / "plain", speculative_config=said))

    assert "draft-weights" in differ(guessing("small"), guessing("other"))


def test_chunks_engines_environments_and_machines_are_in_the_namespace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = values(configured(folder / "plain"))
    assert "chunk-tokens" in differ(plain, values(configured(folder / "plain"), {"blocks_per_chunk": 2}))
    with monkeypatch.context() as changed:
        changed.setattr(vllm, "__version__", "99.0")
        assert differ(plain, values(configured(folder / "plain"))) == {"version"}
    with monkeypatch.context() as changed:
        changed.setenv("VLLM_MLA_DISABLE", "1")
        assert differ(plain, values(configured(folder / "plain"))) == {"environment-config"}
    with monkeypatch.context() as changed:
        changed.setattr("torch.backends.cpu.get_cpu_capability", lambda: "another")
        assert differ(plain, values(configured(folder / "plain"))) == {"platform-config"}


def test_each_field_that_is_not_told_is_one_that_somebody_decided_on() -> None:
    """A field that vLLM adds is in the key; a name here that vLLM no longer has hides nothing."""
    config = vllm.config.VllmConfig
    assert {f.name for f in dataclasses.fields(config)} >= {"model_config", "cache_config", "load_config", "lora_config"}
    assert not {"hf_config", "dtype", "quantization", "max_model_len", "revision"} & effective.UNUSED["ModelConfig"]
    assert not {"cache_dtype", "block_size", "sliding_window", "kv_cache_layout"} & effective.UNUSED["CacheConfig"]


def test_what_has_no_text_makes_no_key(folder: Path) -> None:
    config = configured(folder / "plain")
    config.additional_config = {"hook": object()}
    with pytest.raises(TypeError, match="additional"):
        values(config)


def _hashes(**options: Any) -> list[bytes]:
    from vllm.sampling_params import SamplingParams
    from vllm.utils.hashing import sha256
    from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
    from vllm.v1.request import Request

    init_none_hash(sha256)
    usual: dict[str, Any] = {"prompt_token_ids": list(range(64)), "sampling_params": SamplingParams(max_tokens=1), "pooling_params": None}
    return list(Request("r", block_hasher=get_request_block_hasher(32, sha256), **usual | options).block_hashes)


def test_what_a_request_says_is_in_vllms_own_hash() -> None:
    """Tokens, salts, adapters by name and place: the part of the key that vLLM makes."""
    from vllm.lora.request import LoRARequest

    plain = _hashes()
    assert plain == _hashes()
    others = [
        _hashes(prompt_token_ids=[7, *range(1, 64)]),
        _hashes(cache_salt="tenant"),
        _hashes(lora_request=LoRARequest("a", 1, "/a")),
        _hashes(lora_request=LoRARequest("b", 1, "/a")),
        _hashes(lora_request=LoRARequest("a", 1, "/b")),
    ]
    assert len({each[1] for each in [plain, *others]}) == 6


def test_outside_of_an_engine_there_is_no_configuration() -> None:
    with pytest.raises(LookupError):
        effective.vllm_config(SimpleNamespace(config=SimpleNamespace(engine_id="x")))
