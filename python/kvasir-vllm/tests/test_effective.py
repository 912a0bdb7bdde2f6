"""Configurations as text, without vLLM."""

from __future__ import annotations

import dataclasses
import enum
from types import SimpleNamespace
from typing import Any

import pytest

from kvasir_vllm import effective


class Kind(enum.Enum):
    ONE = 1
    TWO = 2


class Loaded:
    """As a model's configuration: its fields are not all that it says."""

    def __init__(self, **said: Any) -> None:
        self.said = said

    def to_dict(self) -> dict[str, Any]:
        return self.said


@dataclasses.dataclass
class DeclaredOnly(Loaded):
    declared: int = 1

    def to_dict(self) -> dict[str, Any]:
        return vars(self)


@dataclasses.dataclass
class CacheConfig:
    cache_dtype: str = "auto"
    gpu_memory_utilization: float = 0.9
    kind: Any = Kind.ONE
    extra: Any = None


def test_equal_configurations_have_equal_texts_and_others_have_not() -> None:
    base = effective.digest(CacheConfig())
    assert base == effective.digest(CacheConfig(gpu_memory_utilization=0.5)), "it changes no byte of a block"
    others = [
        CacheConfig(cache_dtype="fp8"),
        CacheConfig(kind=Kind.TWO),
        *(CacheConfig(extra=extra) for extra in (1, 1.5, "1", [1], {"a": 1}, {"a": 2}, {3}, b"1", Kind, True)),
    ]
    assert len({base, *map(effective.digest, others)}) == len(others) + 1
    assert effective.digest({"a": 1, "b": {2, 1}}) == effective.digest({"b": {1, 2}, "a": 1})


def test_a_models_configuration_is_all_that_it_says_but_where_it_lies() -> None:
    one = Loaded(hidden=1, rope={"factor": 4.0}, _name_or_path="/here")
    assert effective.digest(one) == effective.digest(Loaded(hidden=1, rope={"factor": 4.0}, _name_or_path="/there"))
    assert effective.digest(one) != effective.digest(Loaded(hidden=1, rope={"factor": 8.0}))
    declared, more = DeclaredOnly(), DeclaredOnly()
    more.sliding_window = 96  # type: ignore[attr-defined]
    assert effective.digest(declared) != effective.digest(more)


@pytest.mark.parametrize("value", [object(), lambda: 1, {"deep": [{"in": object()}]}])
def test_what_has_no_text_makes_no_key(value: Any) -> None:
    with pytest.raises(TypeError, match="part.*is a"):
        effective.digest({"part": value})


def test_the_configuration_is_that_of_whoever_makes_the_tier() -> None:
    def connector(vllm_config: Any, spec: Any) -> Any:
        return effective.vllm_config(spec)

    def engine(name: str) -> Any:
        return SimpleNamespace(model_config=1, kv_transfer_config=SimpleNamespace(engine_id=name))

    spec = SimpleNamespace(config=SimpleNamespace(engine_id="mine"))
    mine = engine("mine")
    assert connector(mine, spec) is mine
    with pytest.raises(LookupError, match="engine other"):
        connector(engine("other"), spec)
    with pytest.raises(LookupError):
        effective.vllm_config(spec)
