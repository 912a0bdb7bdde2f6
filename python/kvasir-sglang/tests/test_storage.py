"""The backend against SGLang's own contract and factory, with the real daemon and a host pool that is only a tensor."""

from __future__ import annotations

import hashlib
import inspect
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


def test_the_namespace_keeps_ranks_apart_but_not_those_of_mla(daemon: Any) -> None:
    from kvasir_sglang.storage import KvasirStorage

    def space(rank: int, mla: bool) -> dict[str, object]:
        values = vars(config(SimpleNamespace(path="/x"), rank)) | {"is_mla_model": mla}
        made = KvasirStorage(SimpleNamespace(**values), {})
        made._page_bytes, made._dtype = 64, "bf16"
        return made._namespace(Pool(PAGE), 4096)

    assert space(0, False) != space(1, False)
    assert space(0, True) == space(1, True)
