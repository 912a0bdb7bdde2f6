"""Deletes what a tenant stored: python3 -m kvasir_vllm.forget TENANT --socket SOCKET --folder FOLDER

The folder is that of the daemon's disk tier; each namespace in it is asked for. The tenant is hashed with KVASIR_TENANT_KEY, which
must be as in vLLM's environment."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from pathlib import Path

from kvasir_vllm import protocol, tenants
from kvasir_vllm.client import Client

SECONDS_MAX = 60.0


def forget(socket: str, namespace: str, tenant: bytes) -> int:
    """How many chunks of the tenant there were."""
    rows = dict(line.split("=", 1) for line in namespace.splitlines() if line)
    client = Client(socket, protocol.hello(int(rows["row-bytes"]), 1, "", "kvasir-forget", namespace))
    answered = threading.Event()
    box: list[bytes | None] = [None]

    def done(body: bytes | None) -> None:
        box[0] = body
        answered.set()

    try:
        if not client.wait(SECONDS_MAX) or not client.ask(lambda n: protocol.forget(n, tenant), done):
            raise ConnectionError(f"no daemon answers at {socket}")
        answered.wait(SECONDS_MAX)
    finally:
        client.close()
    if box[0] is None:
        raise ConnectionError(f"the daemon at {socket} has not answered")
    told = json.loads(box[0])
    if told.get("left"):
        raise ConnectionError(f"{told['left']} chunks are still in use by engines; try again")
    return int(told["chunks"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="kvasir_vllm.forget", description=__doc__)
    parser.add_argument("tenant")
    parser.add_argument("--socket", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    options = parser.parse_args(arguments)
    tenant = tenants.Tenants(os.environ.get("KVASIR_TENANT_KEY", "")).of({"kvasir_tenant": options.tenant})
    found = sorted(options.folder.glob("*/namespace"))
    if not found:
        print(f"no namespace in {options.folder}", file=sys.stderr)
        return 1
    for file in found:
        count = forget(options.socket, file.read_text(), tenant)
        print(f"{file.parent.name}: {count} chunks deleted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
