"""With SGLang installed: each option that changes keys and values changes the namespace, and no other one does.

python -m pytest python/kvasir-sglang/tests/real/keys.py
"""

import json
from pathlib import Path
from typing import Any

import pytest

server_args = pytest.importorskip("sglang.srt.server_args")

from kvasir_vllm import effective  # noqa: E402

from kvasir_sglang import storage  # noqa: E402

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "vocab_size": 128,
    "max_position_embeddings": 512,
    "rope_theta": 10000.0,
    "rms_norm_eps": 1e-5,
    "torch_dtype": "float32",
    "hidden_act": "silu",
}
YARN = {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}}
LORA = {"enable_lora": True, "lora_paths": ["a=/none"], "max_lora_rank": 8, "lora_target_modules": ["q_proj"]}


def key(folder: Path, **more: Any) -> tuple[object, ...]:
    (folder / "config.json").write_text(json.dumps(CONFIG))
    usual = {"model_path": str(folder), "device": "cpu", "load_format": "dummy", "skip_tokenizer_init": True}
    given = server_args.ServerArgs(**{**usual, **more})
    options, model = storage._options(given), storage._model_config(given)
    return effective.digest(options, "options"), effective.digest(model, "model-config"), *storage._adapters(given)


@pytest.mark.parametrize(
    "more",
    [
        {"json_model_override_args": json.dumps(YARN)},
        {"json_model_override_args": '{"rope_theta": 5000.0}'},
        {"context_length": 256},
        {"kv_cache_dtype": "fp8_e5m2"},
        {"dtype": "bfloat16"},
        {"quantization": "w8a8_int8"},
        {"revision": "abc"},
        LORA,
        {"page_size": 32},
        {"attention_backend": "torch_native"},
        {"load_format": "safetensors"},
        {"model_impl": "transformers"},
    ],
    ids=str,
)
def test_what_changes_keys_and_values_is_in_the_namespace(tmp_path: Path, more: dict[str, Any]) -> None:
    assert key(tmp_path, **more) != key(tmp_path)


@pytest.mark.parametrize(
    "more",
    [{"port": 31000}, {"random_seed": 5}, {"mem_fraction_static": 0.5}, {"log_level": "debug"}, {"max_running_requests": 3}],
    ids=str,
)
def test_what_changes_none_is_not(tmp_path: Path, more: dict[str, Any]) -> None:
    assert key(tmp_path, **more) == key(tmp_path)
