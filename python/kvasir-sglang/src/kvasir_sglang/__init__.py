"""Keeps the pages of SGLang's HiCache in the tiers of a Kvasir daemon."""

from typing import Any

__all__ = ["KvasirStorage"]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    if name == "KvasirStorage":
        from kvasir_sglang.storage import KvasirStorage

        return KvasirStorage
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
