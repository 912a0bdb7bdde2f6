"""Whose blocks they are, as a keyed hash: the daemon counts by it, and does not learn the name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from kvasir_vllm.protocol import TENANT_BYTES

NOBODY = bytes(TENANT_BYTES)
NAMES = ("kvasir_tenant", "cache_salt")


class Tenants:
    """Reads tenants out of requests' ``kv_transfer_params``."""

    def __init__(self, key: str) -> None:
        self._key = hashlib.sha256(key.encode()).digest()

    def of(self, params: Mapping[str, Any] | None) -> bytes:
        """Zeros where the request names nobody."""
        for name in NAMES if params else ():
            value = params.get(name) if params else None
            if isinstance(value, str) and value:
                return hashlib.blake2b(value.encode(), key=self._key, digest_size=TENANT_BYTES).digest()
        return NOBODY
