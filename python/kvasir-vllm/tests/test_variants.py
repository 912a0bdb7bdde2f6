"""What requests' keys depend on besides vLLM's hash."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kvasir_vllm.lookups import wire_keys
from kvasir_vllm.variants import Variants


def key(number: int, group: int = 0) -> bytes:
    return number.to_bytes(32, "big") + group.to_bytes(4, "big")


KEYS = [key(1), key(2), key(2, 1)]


class Contents:
    """Adapters by what is in them."""

    def __init__(self, **contents: bytes | None) -> None:
        self.contents = contents

    def content(self, request: Any) -> bytes | None:
        return self.contents[request.name]


def begun(variants: Variants, name: str, adapter: str | None = None) -> SimpleNamespace:
    """As vLLM begins a request: the tier is told only its name."""
    request = SimpleNamespace(request_id=name, lora_request=adapter and SimpleNamespace(name=adapter))
    context = SimpleNamespace(req_id=request.request_id)
    variants.begin(context)
    return context


def wired(variants: Variants, context: SimpleNamespace) -> list[bytes]:
    return variants.wired(context.req_id, KEYS, wire_keys)


def test_without_adapters_and_resets_keys_are_vllms() -> None:
    variants = Variants(None, private=False)
    request = begun(variants, "r")
    assert variants.allows(request) and wired(variants, request) == wire_keys(KEYS)


def test_each_content_of_an_adapter_has_other_keys_and_equal_ones_the_same() -> None:
    adapters: Any = Contents(a=b"1", b=b"2", c=b"1")
    variants = Variants(adapters, private=False)
    plain, a, b, c = (wired(variants, begun(variants, f"r{name}", name)) for name in (None, "a", "b", "c"))
    assert plain == wire_keys(KEYS) and a == c
    assert len({*plain, *a, *b}) == 9
    assert [each[32:] for each in a] == [each[32:] for each in plain], "groups are the daemon's to know"
    assert wired(Variants(adapters, private=False), begun(variants, "other")) == plain


def test_an_adapter_that_nobody_knows_stays_out() -> None:
    adapters: Any = Contents(a=None)
    variants = Variants(adapters, private=False)
    request = begun(variants, "r", "a")
    assert "r" in variants.out and not variants.allows(request)
    hidden = SimpleNamespace(req_id="hidden")
    variants.begin(hidden)
    assert not variants.allows(hidden), "vLLM did not say whether there is an adapter"
    variants.end(request)
    assert "r" not in variants.out


def test_an_adapter_that_changes_under_a_request_takes_it_out() -> None:
    adapters: Any = Contents(a=b"1")
    variants = Variants(adapters, private=False)
    request = begun(variants, "r", "a")
    assert variants.allows(request)
    adapters.contents["a"] = None
    assert not variants.allows(request) and "r" in variants.out


def test_after_a_reset_keys_are_others_and_what_was_begun_before_stays_out() -> None:
    variants = Variants(None, private=False)
    before = begun(variants, "before")
    assert variants.reset(True)
    assert not variants.allows(before) and "before" in variants.out
    after = begun(variants, "after")
    first = wired(variants, after)
    assert variants.allows(after) and not {*first} & {*wire_keys(KEYS)}
    assert variants.reset(True)
    last = begun(variants, "last")
    assert not {*wired(variants, last)} & {*first, *wire_keys(KEYS)}
    assert not variants.allows(after)


def test_a_second_reset_of_nothing_changes_nothing() -> None:
    variants = Variants(None, private=False)
    assert variants.reset(True)
    first = wired(variants, begun(variants, "r"))
    assert not variants.reset(True)
    assert wired(variants, begun(variants, "s")) == first


def test_after_half_a_reset_all_stays_out_until_a_whole_one() -> None:
    variants = Variants(None, private=False)
    variants.reset(False)
    assert not variants.allows(begun(variants, "r"))
    variants.reset(True)
    assert variants.allows(begun(variants, "s"))


def test_keys_of_a_process_of_its_own_are_nobody_elses() -> None:
    one, other = Variants(None, private=True), Variants(None, private=True)
    keys = [{*wired(each, begun(each, "r"))} for each in (one, other)]
    assert not keys[0] & keys[1] and not keys[0] & {*wire_keys(KEYS)}
