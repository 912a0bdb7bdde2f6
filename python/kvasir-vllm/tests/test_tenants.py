from kvasir_vllm.tenants import NOBODY, Tenants


def test_a_tenant_is_a_keyed_hash_of_what_the_request_says() -> None:
    one, other = Tenants("key"), Tenants("another key")
    assert one.of({"kvasir_tenant": "anna"}) == one.of({"cache_salt": "anna"})
    assert one.of({"kvasir_tenant": "anna"}) != one.of({"kvasir_tenant": "otto"})
    assert one.of({"kvasir_tenant": "anna"}) != other.of({"kvasir_tenant": "anna"})
    assert len(one.of({"kvasir_tenant": "anna"})) == 16


def test_who_names_nobody_is_nobody() -> None:
    for params in (None, {}, {"kvasir_tenant": ""}, {"kvasir_tenant": 7}, {"other": "anna"}):
        assert Tenants("key").of(params) == NOBODY
