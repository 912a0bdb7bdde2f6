"""Holds the tier against vLLM's sources, without importing them: contract.py DIR..., each an unpacked release of vLLM.

All that vLLM's SecondaryTierManager demands must be there, with arguments of the same names in the same order; whatever
the factory passes to the constructor must be taken; and the fields that the tier reads must be there under one of the names
that it knows.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

TIER = Path(__file__).parents[2] / "src" / "kvasir_vllm" / "tier.py"
OFFLOAD = Path("vllm/v1/kv_offload")
FIELDS = {"TransferJob": [("job_id",), ("keys",), ("chunk_ids", "block_ids"), ("req_context",)], "JobResult": [("job_id",), ("success",)]}
OLDER = {"TransferJob": "JobMetadata"}


def classes(file: Path) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)}


def methods(of: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in of.body if isinstance(node, ast.FunctionDef)}


def names(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]]


def needed(function: ast.FunctionDef) -> list[str]:
    """The arguments without a default."""
    return names(function)[: len(names(function)) - len(function.args.defaults)]


def is_abstract(function: ast.FunctionDef) -> bool:
    return any("abstractmethod" in ast.unparse(decorator) for decorator in function.decorator_list)


def fields(of: ast.ClassDef) -> set[str]:
    return {node.target.id for node in of.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}


def faults(release: Path) -> list[str]:
    base = classes(release / OFFLOAD / "tiering" / "base.py")
    theirs, ours = methods(base["SecondaryTierManager"]), methods(classes(TIER)["KvasirTier"])
    found = [f"{name} is missing" for name, each in theirs.items() if is_abstract(each) and name not in ours]
    for name, each in ours.items():
        if name in theirs and name != "__init__" and names(theirs[name]) not in (names(each), needed(each)):
            found.append(f"{name}{names(each)}, vLLM has {names(theirs[name])}")
    taken = names(ours["__init__"])
    found += [f"the constructor does not take {each}" for each in names(theirs["__init__"]) if each not in taken]
    for name, wanted in FIELDS.items():
        there = base.get(name) or base[OLDER[name]]
        found += [f"{name} has none of {each}" for each in wanted if not fields(there).intersection(each)]
    return found


def main() -> int:
    bad = 0
    for release in map(Path, sys.argv[1:]):
        found = faults(release)
        bad += bool(found)
        print(f"{release}: " + ("; ".join(found) or "as expected"))
    return 1 if bad or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
