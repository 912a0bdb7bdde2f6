"""Models of half a million random numbers, and adapters for them, in the files that vLLM reads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

LAYERS, WIDTH, KV_WIDTH, VOCABULARY = 4, 128, 64, 4096


def model(folder: Path, seed: int = 7, **config: Any) -> Path:
    """A Llama; its prompts are numbers of tokens."""
    import torch
    import transformers

    torch.manual_seed(seed)
    settings: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "intermediate_size": 256,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }
    made = transformers.AutoModelForCausalLM.from_config(transformers.LlamaConfig(**settings | config)).float()
    with torch.no_grad():
        for name, numbers in made.named_parameters():
            if numbers.dim() >= 2:
                numbers.normal_(0, 0.3 if "embed" in name or "lm_head" in name else 0.25 if "q_proj" in name or "k_proj" in name else 0.15)
            else:
                numbers.add_(torch.randn_like(numbers) * 0.1)
    made.save_pretrained(folder, safe_serialization=True)
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"dtype": "float32"}))
    return folder


def adapter(folder: Path, seed: int) -> Path:
    """Large enough to be heard in each answer; what was in the folder is overwritten."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(seed)
    tensors = {}
    for layer in range(LAYERS):
        for name, width in {"q_proj": WIDTH, "k_proj": KV_WIDTH, "v_proj": KV_WIDTH}.items():
            base = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            tensors[f"{base}.lora_A.weight"] = torch.randn(8, WIDTH) * 0.2
            tensors[f"{base}.lora_B.weight"] = torch.randn(width, 8) * 0.2
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, str(folder / "adapter_model.safetensors"))
    said = {"peft_type": "LORA", "base_model_name_or_path": "x", "r": 8, "lora_alpha": 16, "lora_dropout": 0.0}
    more = {"target_modules": ["q_proj", "k_proj", "v_proj"], "bias": "none", "task_type": "CAUSAL_LM"}
    (folder / "adapter_config.json").write_text(json.dumps(said | more))
    return folder


def copy(of: Path, to: Path) -> Path:
    shutil.copytree(of, to, dirs_exist_ok=True)
    return to
