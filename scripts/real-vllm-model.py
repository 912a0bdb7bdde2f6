"""Writes the built-in model as a Hugging Face checkpoint: real-vllm-model.py MODEL.gguf FOLDER"""

import json
import os
import sys

import numpy as np
from gguf import GGUFReader
from safetensors.numpy import save_file


def paired_to_halves(rows, heads):
    """GGUF keeps the two values that RoPE turns side by side, Hugging Face in two halves."""
    size = rows.shape[0] // heads
    return rows.reshape(heads, size // 2, 2, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def weights(reader, field):
    tensors = {each.name: np.array(each.data) for each in reader.tensors}
    heads, kv_heads = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
    named = {
        "model.embed_tokens.weight": tensors["token_embd.weight"],
        "model.norm.weight": tensors["output_norm.weight"],
    }
    parts = {
        "attn_norm": "input_layernorm",
        "ffn_norm": "post_attention_layernorm",
        "attn_q": "self_attn.q_proj",
        "attn_k": "self_attn.k_proj",
        "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj",
        "ffn_gate": "mlp.gate_proj",
        "ffn_up": "mlp.up_proj",
        "ffn_down": "mlp.down_proj",
    }
    for layer in range(field("llama.block_count")):
        for ours, theirs in parts.items():
            rows = tensors[f"blk.{layer}.{ours}.weight"]
            if ours == "attn_q":
                rows = paired_to_halves(rows, heads)
            if ours == "attn_k":
                rows = paired_to_halves(rows, kv_heads)
            named[f"model.layers.{layer}.{theirs}.weight"] = rows
    return {name: np.ascontiguousarray(rows.astype(np.float32)) for name, rows in named.items()}


def config(field, vocabulary):
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": field("llama.embedding_length"),
        "intermediate_size": field("llama.feed_forward_length"),
        "num_hidden_layers": field("llama.block_count"),
        "num_attention_heads": field("llama.attention.head_count"),
        "num_key_value_heads": field("llama.attention.head_count_kv"),
        "head_dim": field("llama.embedding_length") // field("llama.attention.head_count"),
        "hidden_act": "silu",
        "max_position_embeddings": field("llama.context_length"),
        "rms_norm_eps": 1e-5,
        "rope_theta": float(field("llama.rope.freq_base")),
        "vocab_size": vocabulary,
        "tie_word_embeddings": True,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": None,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "dtype": "float32",
    }


def tokenizer(field):
    tokens, types = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.token_type")
    level = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}
    special = [
        {
            "id": token,
            "content": text,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for token, text in enumerate(tokens)
        if types[token] == 3
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": level | {"add_prefix_space": False},
        "post_processor": None,
        "decoder": level | {"add_prefix_space": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {text: token for token, text in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in field("tokenizer.ggml.merges")],
        },
    }


def main(source, folder):
    reader = GGUFReader(source)
    field = lambda name: reader.fields[name].contents()
    os.makedirs(folder, exist_ok=True)
    named = weights(reader, field)
    save_file(named, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
    files = {
        "config.json": config(field, named["model.embed_tokens.weight"].shape[0]),
        "generation_config.json": {"eos_token_id": [2, 0], "pad_token_id": 0, "do_sample": False},
        "tokenizer.json": tokenizer(field),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": field("llama.context_length"),
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "clean_up_tokenization_spaces": False,
            "chat_template": field("tokenizer.chat_template"),
        },
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
            json.dump(content, out, indent=1, ensure_ascii=False)


main(sys.argv[1], sys.argv[2])
