"""The configuration in force, as text that is the same in each process that computes the same keys and values.

vLLM's configuration is taken whole, less what is known to leave keys and values as they are: an option that a later vLLM adds is
in the namespace until somebody says that it need not be. What has no text of its own raises: no key is made without it.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import os
import re
import sys
import types
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

FRAMES_MAX = 30

# By the class that has them: fields that leave keys and values as they are, or that are told in another place.
UNUSED: dict[str, frozenset[str]] = {
    "VllmConfig": frozenset(
        """parallel_config scheduler_config device_config offload_config aux_output_config kernel_config watermark_config
        structured_outputs_config observability_config logging_config quant_config compilation_config profiler_config
        kv_transfer_config kv_events_config ec_transfer_config ec_manager_config reasoning_config instance_id
        optimization_level performance_mode weight_transfer_config shutdown_timeout watchdog_config""".split()
    ),
    # The model's place and its seed are told with the weights; names of tokens are not in keys, only their numbers.
    "ModelConfig": frozenset(
        """model seed tokenizer tokenizer_mode tokenizer_revision skip_tokenizer_init renderer_num_workers hf_config_path
        hf_overrides hf_token trust_remote_code served_model_name allowed_local_media_path allowed_media_domains
        allow_deprecated_quantization enforce_eager return_sampling_mask max_logprobs logprobs_mode use_fp64_gumbel
        enable_trace_replay generation_config override_generation_config enable_sleep_mode sleep_preserve_parameter_names
        sleep_mode_backend sleep_mode_offload_cudagraph enable_nccl_comm_suspend enable_cumem_allocator logits_processors
        io_processor_plugin pooler_config enable_prompt_embeds""".split()
    ),
    "MultiModalConfig": frozenset(
        """limit_per_prompt mm_processor_cache_gb mm_processor_cache_type mm_shm_cache_max_object_size_mb
        skip_mm_profiling language_model_only""".split()
    ),
    "CacheConfig": frozenset(
        """gpu_memory_utilization num_gpu_blocks num_gpu_blocks_override num_cpu_blocks kv_cache_size_tokens
        kv_cache_max_concurrency kv_cache_memory_bytes kv_offloading_size kv_offloading_backend enable_prefix_caching
        user_specified_block_size prefix_cache_retention_interval cache_hit_alignment_tokens prefix_match_unit
        _block_size_resolved swap_space cpu_offload_gb simple_cpu_offload_num_blocks""".split()
    ),
    "LoadConfig": frozenset(
        """download_dir safetensors_load_strategy safetensors_prefetch_num_threads safetensors_prefetch_block_size device
        use_tqdm_on_load pt_load_map_location""".split()
    ),
    "LoRAConfig": frozenset("max_loras max_cpu_loras specialize_active_lora".split()),
    "SpeculativeConfig": frozenset(
        "enforce_eager model target_model_config target_parallel_config draft_parallel_config draft_load_config".split()
    ),
}
PARALLEL = re.compile(r"(tensor|pipeline|context)_parallel_size|interleave_size")
ENVIRONMENT = re.compile(
    r"VLLM_.*(ATTN|ATTENTION|KV_CACHE|MLA|ROPE|QUANT|FP8|FP4|INT8|MXFP|MOE|MARLIN|ROCM|FLASH|TRITON|GEMM|CUTLASS|INVARIANT|MAX_MODEL_LEN)"
)


def vllm_config(spec: Any) -> Any:
    """The configuration of the engine that makes this tier. Since vLLM hands a tier only a part of it, it is found where the
    connector was made; it is that of no other engine, for it names the same connector."""
    found = getattr(spec, "vllm_config", None)
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(FRAMES_MAX):
        if found is not None or frame is None:
            break
        found, frame = frame.f_locals.get("vllm_config"), frame.f_back
    if getattr(found, "model_config", None) is None:
        raise LookupError("vLLM's configuration is nowhere to be found")
    theirs = getattr(getattr(found, "kv_transfer_config", None), "engine_id", None)
    ours = getattr(spec.config, "engine_id", theirs)
    if theirs != ours:
        raise LookupError(f"the configuration is that of engine {theirs}, not of {ours}")
    return found


def plain(value: Any, where: str = "") -> Any:
    """What JSON can write, for equal values the same; a TypeError names what has no such text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, Mapping):
        return {str(k): plain(v, f"{where}.{k}") for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, f"{where}[]") for each in value]
    if isinstance(value, set | frozenset):
        return sorted(json.dumps(plain(each, f"{where}[]"), sort_keys=True) for each in value)
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, bytes | PurePath) or type(value).__module__ == "torch":  # dtypes and devices
        return str(value)
    return _fields(value, where)


def _fields(value: Any, where: str) -> Any:
    # Of transformers. Its fields are not all of it: a model's file has more. Where that lies is not what it says.
    if hasattr(value, "to_dict"):
        told = {k: v for k, v in value.to_dict().items() if k not in ("_name_or_path", "name_or_path")}
        return {"class": type(value).__name__, **plain(told, where)}
    names = getattr(value, "__struct_fields__", None)
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    if names is not None:
        unused = UNUSED.get(type(value).__name__, frozenset())
        there = [name for name in names if name not in unused and hasattr(value, name)]
        return {name: plain(getattr(value, name), f"{where}.{name}") for name in there}
    raise TypeError(f"{where.lstrip('.')} is a {type(value).__module__}.{type(value).__qualname__}")


def digest(value: Any, where: str = "") -> str:
    """A short hash of what it says."""
    text = json.dumps(plain(value, where), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def sections(config: Any) -> dict[str, Any]:
    """All of vLLM's configuration that keys and values may depend on, by the name of the part."""
    unused = UNUSED["VllmConfig"]
    names = [field.name for field in dataclasses.fields(config) if field.name not in unused]
    told = {name.removesuffix("_config").replace("_", "-"): getattr(config, name, None) for name in names}
    parallel = config.parallel_config
    told["parallel"] = {
        field.name: getattr(parallel, field.name) for field in dataclasses.fields(parallel) if PARALLEL.search(field.name)
    }
    told["environment"] = {name: value for name, value in os.environ.items() if ENVIRONMENT.match(name)}
    told["platform"] = _platform()
    return {f"{name}-config": plain(value, name) for name, value in told.items()}


def _platform() -> dict[str, str]:
    """What chooses how attention is computed, and with it how pages are laid out."""
    import torch
    from vllm.platforms import current_platform

    kind = str(current_platform.device_type)
    if kind == "cpu":
        return {"device": kind, "capability": torch.backends.cpu.get_cpu_capability()}
    return {"device": kind, "capability": str(current_platform.get_device_capability())}
