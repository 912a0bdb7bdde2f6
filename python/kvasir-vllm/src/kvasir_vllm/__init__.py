"""Keeps vLLM's KV cache in the tiers of a Kvasir daemon.

Nothing here imports vLLM; ``kvasir_vllm.tier`` does. A configuration that names this package as ``module_path`` finds
``KvasirTier`` in it.
"""

from typing import Any

__all__ = ["KvasirTier"]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    if name == "KvasirTier":
        from kvasir_vllm.tier import KvasirTier

        return KvasirTier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
