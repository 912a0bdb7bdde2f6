"""The backend against SGLang's own contract and factory, with the real daemon and a host pool that is only a tensor."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

PAGE = 16
LAYERS, HEADS, DIM = 3, 2, 8


class Pool:
    """A host pool in the layout layer_first, as SGLang's pool for multi-head attention has it."""

    def __init__(self, tokens: int) -> None:
        import torch

        self.layout, self.page_size, self.dtype = "layer_first", PAGE, torch.bfloat16
        self.kv_buffer = torch.zeros((2, LAYERS, tokens, HEADS, DIM), dtype=self.dtype)

    def get_data_page(self, index: int, flat: bool = True) -> Any:
        page = self.kv_buffer[:, :, index : index + PAGE]
        return page.flatten() if flat else page

    def get_dummy_flat_data_page(self) -> Any:
        import torch

        return torch.zeros((2, LAYERS, PAGE, HEADS, DIM), dtype=self.dtype).flatten()

    def clear(self) -> None:
        """As SGLang does when it flushes: which places are free, and not their content."""

    def set_from_flat_data_page(self, index: int, page: Any) -> None:
        self.kv_buffer[:, :, index : index + PAGE] = page.reshape(2, LAYERS, PAGE, HEADS, DIM)


def config(daemon: Any, rank: int = 0, **more: Any) -> Any:
    from sglang.srt.mem_cache.hicache_storage import HiCacheStorageConfig

    extra = {
        "backend_name": "kvasir",
        "module_path": "kvasir_sglang",
        "class_name": "KvasirStorage",
        "interface_v1": 1,
        "socket": daemon.path,
        **more,
    }
    known = inspect.signature(HiCacheStorageConfig).parameters
    values = {
        "tp_rank": rank,
        "tp_size": 2,
        "pp_rank": 0,
        "pp_size": 1,
        "attn_cp_rank": 0,
        "attn_cp_size": 1,
        "is_mla_model": False,
        "enable_storage_metrics": False,
        "is_page_first_layout": False,
        "model_name": "m",
        "extra_config": extra,
    }
    return HiCacheStorageConfig(**{name: value for name, value in values.items() if name in known})


def storage(daemon: Any, pool: Pool, rank: int = 0, **more: Any) -> Any:
    from sglang.srt.mem_cache.storage.backend_factory import StorageBackendFactory

    made = StorageBackendFactory.create_backend("dynamic", config(daemon, rank, **more), pool)
    made.register_mem_pool_host(pool)
    assert made._client.connected
    return made


def keys(*pages: int) -> list[str]:
    return [hashlib.sha256(b"page %d" % page).hexdigest() for page in pages]


def places(*pages: int) -> Any:
    import torch

    return torch.cat([torch.arange(page * PAGE, (page + 1) * PAGE) for page in pages])


def filled(pool: Pool, pages: int) -> None:
    import torch

    torch.manual_seed(1)
    pool.kv_buffer[:, :, : pages * PAGE] = torch.randn(2, LAYERS, pages * PAGE, HEADS, DIM).to(pool.dtype)


def test_every_method_has_the_arguments_of_the_contract() -> None:
    from sglang.srt.mem_cache.hicache_storage import HiCacheStorage

    from kvasir_sglang import KvasirStorage

    assert not inspect.isabstract(KvasirStorage) and issubclass(KvasirStorage, HiCacheStorage)
    for name in ("get", "batch_get", "set", "batch_set", "exists", "batch_exists", "batch_get_v1", "batch_set_v1"):
        theirs = list(inspect.signature(getattr(HiCacheStorage, name)).parameters)
        assert list(inspect.signature(getattr(KvasirStorage, name)).parameters) == theirs, name


def test_pages_come_back_to_other_places_and_another_process(daemon: Any) -> None:
    daemon.start()
    first, second = Pool(8 * PAGE), Pool(8 * PAGE)
    filled(first, 5)
    one = storage(daemon, first)
    assert one.batch_exists(keys(0, 1)) == 0
    assert one.batch_set_v1(keys(0, 1, 2, 3, 4), places(0, 1, 2, 3, 4)) == [True] * 5
    assert one.batch_exists(keys(0, 1, 2, 9, 4)) == 3
    two = storage(daemon, second)
    assert two.batch_get_v1(keys(4, 9, 0), places(1, 2, 3)) == [True, False, True]
    assert second.get_data_page(PAGE).equal(first.get_data_page(4 * PAGE))
    assert second.get_data_page(3 * PAGE).equal(first.get_data_page(0))
    assert not second.get_data_page(2 * PAGE).any()
    one.close()
    two.close()


def test_a_ring_of_few_rows_passes_many_pages_of_several_threads(daemon: Any) -> None:
    daemon.start()
    pool, other = Pool(40 * PAGE), Pool(40 * PAGE)
    filled(pool, 40)
    made = storage(daemon, pool, ring_bytes=3 * 4096)
    ways = [
        threading.Thread(
            target=made.batch_set_v1, args=(keys(*range(n, 40, 4)), places(*range(n, 40, 4)))
        )
        for n in range(4)
    ]
    for way in ways:
        way.start()
    for way in ways:
        way.join()
    assert made.batch_exists(keys(*range(40))) == 40
    made.mem_pool_host = other
    assert made.batch_get_v1(keys(*range(40)), places(*range(40))) == [True] * 40
    assert other.kv_buffer.equal(pool.kv_buffer)
    made.close()
    assert not list(Path("/dev/shm").glob(made._ring.path.name))


def test_tensors_come_back(daemon: Any) -> None:
    daemon.start()
    pool = Pool(4 * PAGE)
    filled(pool, 2)
    made = storage(daemon, pool)
    assert made.set(keys(0)[0], pool.get_data_page(0)) and made.exists(keys(0)[0])
    page = made.get(keys(0)[0])
    assert page is not None and page.equal(pool.get_data_page(0))
    assert made.get(keys(1)[0]) is None
    made.close()


def test_without_a_daemon_nothing_is_there_and_nothing_fails(daemon: Any) -> None:
    daemon.start()
    pool = Pool(4 * PAGE)
    made = storage(daemon, pool)
    daemon.kill()
    assert made.batch_set_v1(keys(0, 1), places(0, 1)) == [False, False]
    assert made.batch_exists(keys(0)) == 0
    assert made.batch_get_v1(keys(0), places(0)) == [False]
    assert len(made._ring._free) == made._ring.rows
    made.close()


def test_pages_of_before_a_flush_are_not_found_and_those_after_it_are(daemon: Any) -> None:
    daemon.start()
    pool, other = Pool(8 * PAGE), Pool(8 * PAGE)
    filled(pool, 4)
    made = storage(daemon, pool)
    assert made.batch_set_v1(keys(0, 1), places(0, 1)) == [True, True]
    pool.clear()
    assert made.batch_exists(keys(0, 1)) == 0
    assert made.batch_get_v1(keys(0), places(3)) == [False]
    assert made.batch_set_v1(keys(0), places(2)) == [True] and made.batch_exists(keys(0)) == 1
    plain = storage(daemon, other)
    assert plain.batch_get_v1(keys(0, 1), places(0, 1)) == [True, True]
    assert other.get_data_page(0).equal(pool.get_data_page(0)), "nobody else finds what was stored after the flush"
    made.close()
    plain.close()


def test_flushes_of_caches_only_keep_what_the_tier_has(daemon: Any) -> None:
    daemon.start()
    pool = Pool(8 * PAGE)
    filled(pool, 2)
    made = storage(daemon, pool, keep_over_reset=True)
    assert made.batch_set_v1(keys(0, 1), places(0, 1)) == [True, True]
    pool.clear()
    assert made.batch_exists(keys(0, 1)) == 2
    made.close()


def space(rank: int = 0, mla: bool = False, **more: Any) -> dict[str, object]:
    from kvasir_sglang.storage import KvasirStorage

    values = vars(config(SimpleNamespace(path="/x"), rank, **more)) | {"is_mla_model": mla}
    made = KvasirStorage(SimpleNamespace(**values), {})
    made._page_bytes, made._dtype = 64, "bf16"
    return dict(made._namespace(Pool(PAGE)))


def test_the_namespace_keeps_ranks_apart_but_not_those_of_mla() -> None:
    assert space(0, False) != space(1, False)
    assert space(0, True) == space(1, True)


@pytest.mark.parametrize(
    "option",
    [
        {"json_model_override_args": '{"rope_scaling": {"rope_type": "yarn"}}'},
        {"quantization": "fp8"},
        {"context_length": 512},
        {"revision": "0123"},
        {"dtype": "float16"},
        {"kv_cache_dtype": "fp8_e5m2"},
        {"load_format": "dummy"},
        {"attention_backend": "triton"},
        {"page_size": 32},
        {"enable_lora": True},
        {"speculative_algorithm": "EAGLE"},
        {"hicache_mem_layout": "page_first"},
        {"added_by_a_later_sglang": 1},
    ],
    ids=str,
)
def test_an_option_that_changes_keys_and_values_changes_the_namespace(server: Any, option: dict[str, Any]) -> None:
    plain = space()
    server.arguments = dataclasses.replace(server.arguments, **option)
    assert space() != plain


@pytest.mark.parametrize("option", [{"port": 1}, {"random_seed": 7}, {"nccl_port": 9}, {"served_model_name": "x"}, {"mem_fraction_static": 0.5}, {"schedule_policy": "lpm"}], ids=str)
def test_an_option_that_changes_neither_changes_nothing(server: Any, option: dict[str, Any]) -> None:
    plain = space()
    server.arguments = dataclasses.replace(server.arguments, **option)
    assert space() == plain


def test_configurations_versions_machines_and_weights_are_in_the_namespace(server: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sglang

    seen = [space()]
    server.config = {"rope_theta": 5e5}
    seen.append(space())
    with monkeypatch.context() as changed:
        changed.setattr(sglang, "__version__", "9")
        seen.append(space())
    with monkeypatch.context() as changed:
        changed.setattr("torch.backends.cpu.get_cpu_capability", lambda: "another")
        seen.append(space())
    for content in (b"a", b"b"):
        (tmp_path / "model.safetensors").write_bytes(content)
        seen.append(space(weights=str(tmp_path)))
    assert all(one != other for one, other in itertools.combinations(seen, 2))


def test_an_adapter_that_was_written_over_is_another(server: Any, tmp_path: Path) -> None:
    seen = []
    for content in (b"a", b"b", b"a"):
        (tmp_path / "adapter_model.safetensors").write_bytes(content)
        server.arguments = dataclasses.replace(server.arguments, enable_lora=True, lora_paths=[f"mine={tmp_path}"])
        seen.append(space())
    assert seen[0] == seen[2] != seen[1]


def test_without_a_whole_key_there_is_no_tier_and_nothing_fails(daemon: Any, server: Any) -> None:
    from sglang.srt.mem_cache.storage.backend_factory import StorageBackendFactory

    daemon.start()
    server.arguments = dataclasses.replace(server.arguments, attention_backend=object())
    pool = Pool(4 * PAGE)
    made = StorageBackendFactory.create_backend("dynamic", config(daemon), pool)
    made.register_mem_pool_host(pool)
    assert made.batch_set_v1(keys(0), places(0)) == [False]
    assert made.batch_exists(keys(0)) == 0 and made.batch_get_v1(keys(0), places(0)) == [False]
    made.close()


def test_salts_and_adapters_of_requests_are_in_sglangs_own_keys() -> None:
    """Tokens too; adapters that are loaded later have a name of chance."""
    source = (Path(os.environ["SGLANG"]) / "sglang/srt/mem_cache/utils.py").read_text()
    start = source.index("def storage_namespace_seed(")
    made: dict[str, Any] = {"hashlib": hashlib, "Optional": __import__("typing").Optional}
    exec(source[start : source.index("def get_storage_hash_str(")], made)
    seed = made["storage_namespace_seed"]
    assert len({seed(None, None), seed("a", None), seed(None, "a"), seed("b", None), seed("a", "a")}) == 5
