"""Real vLLM over the real daemon: whatever is changed between two runs, an answer is that of an engine without a tier.

pytest tests/real/answers.py, where vLLM is installed and KVASIR_TIER_DAEMON is set. Engines are forks of this process, which has
vLLM loaded, so that each starts within seconds. On a machine without a GPU, vLLM's copies are those of cpu_spec.py.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import models
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
os.environ |= {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
pytest.importorskip("vllm")

from conftest import Daemon, daemon  # noqa: E402, F401

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024, "rope_theta": 10000.0}
STARTED_MAX = 500

Answers = list[dict[str, Any]]


def prompts() -> list[list[int]]:
    chance = random.Random(3)
    return [[chance.randrange(100, 4000) for _ in range(length)] for length in (500, 537, 574)]


class Engine:
    """What a script does with a running engine."""

    def __init__(self, model: Path, socket: str | None, tier: dict[str, Any], **options: Any) -> None:
        from vllm import LLM
        from vllm.config import KVTransferConfig
        from vllm.model_executor.models import registry

        registry._run_in_subprocess = lambda function: function()
        usual: dict[str, Any] = {"dtype": "float32", "enforce_eager": True, "max_model_len": 1024, "skip_tokenizer_init": True}
        usual |= {"max_num_seqs": 4, "seed": 0, "enable_prefix_caching": socket is not None, "disable_log_stats": False}
        if socket is not None:
            below = {"type": "KvasirTier", "module_path": "kvasir_vllm", "socket": socket} | tier
            extra = {"spec_name": "CpuTieringSpec", "spec_module_path": "cpu_spec", "cpu_bytes_to_use": 32 << 20}
            extra["secondary_tiers"] = [below]
            connector = {"kv_connector": "OffloadingConnector", "kv_role": "kv_both", "kv_connector_extra_config": extra}
            usual["kv_transfer_config"] = KVTransferConfig(**connector)
        self.llm = LLM(model=str(model), **usual | options)

    def ask(self, adapter: Path | None = None) -> Answers:
        from vllm import SamplingParams
        from vllm.lora.request import LoRARequest

        chosen = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True, detokenize=False)
        more = {} if adapter is None else {"lora_request": LoRARequest("mine", 1, str(adapter))}
        told = []
        for prompt in prompts():
            (answer,) = self.llm.generate([{"prompt_token_ids": prompt}], chosen, use_tqdm=False, **more)
            told.append({"tokens": list(answer.outputs[0].token_ids), "cached": answer.num_cached_tokens or 0})
            time.sleep(0.2)
        return told

    def reset(self) -> bool:
        time.sleep(1)
        return bool(self.llm.reset_prefix_cache(reset_connector=True))


def run(script: Callable[[Engine], Any], folder: Path, model: Path, socket: str | None = None, tier: Any = None, **options: Any) -> Any:
    """The script's result, from a process of its own."""
    number = len(list(folder.glob("*.json")))
    result, log = folder / f"{number}.json", folder / f"{number}.log"
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            engine = Engine(model, socket, tier or {}, **options)
            told = script(engine)
            time.sleep(1)
            engine.llm.llm_engine.engine_core.shutdown()
            result.write_text(json.dumps(told))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)
    end = time.monotonic() + STARTED_MAX
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.killpg(child, 9)
        time.sleep(0.1)
    assert result.exists(), log.read_text()[-3000:]
    return json.loads(result.read_text())


def wrong(answers: Answers, truth: Answers) -> int:
    return sum(one["tokens"] != other["tokens"] for one, other in zip(answers, truth, strict=True))


def cached(answers: Answers) -> int:
    return sum(each["cached"] for each in answers)


def test_the_same_model_with_positions_stretched_finds_nothing_of_the_plain_one(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    model = models.model(tmp_path / "model")
    stretched = {"hf_overrides": {"rope_parameters": YARN}}
    plain = run(Engine.ask, tmp_path, model, daemon.path)
    again = run(Engine.ask, tmp_path, model, daemon.path)
    assert cached(again) > 1400 and wrong(again, plain) == 0, "the tier is of no use"
    truth = run(Engine.ask, tmp_path, model, **stretched)
    assert wrong(plain, truth) == 3, "the option has no effect"
    told = run(Engine.ask, tmp_path, model, daemon.path, **stretched)
    assert (wrong(told, truth), cached(told)) == (0, 0)


def test_weights_that_are_loaded_into_a_running_engine_are_others(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    first, second = models.model(tmp_path / "first"), models.model(tmp_path / "second", seed=8)
    truth = run(Engine.ask, tmp_path, second)

    def script(engine: Engine) -> list[Answers]:
        before = engine.ask()
        engine.llm.collective_rpc("reload_weights", kwargs={"weights_path": str(second)})
        assert engine.reset()
        after = engine.ask()
        assert engine.reset()
        return [before, after, engine.ask()]

    before, after, last = run(script, tmp_path, first, daemon.path)
    assert wrong(before, truth) == 3
    assert (wrong(after, truth), cached(after)) == (0, 0)
    assert (wrong(last, truth), cached(last)) == (0, 0)
    again = run(Engine.ask, tmp_path, first, daemon.path)
    assert wrong(again, before) == 0 and cached(again) > 0


def test_a_reset_of_caches_only_keeps_what_the_tier_has(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    model = models.model(tmp_path / "model")

    def script(engine: Engine) -> list[Answers]:
        before = engine.ask()
        assert engine.reset()
        return [before, engine.ask()]

    before, after = run(script, tmp_path, model, daemon.path, {"keep_over_reset": True})
    assert wrong(after, before) == 0 and cached(after) > 1400


def test_an_adapter_that_was_written_over_is_another(daemon: Daemon, tmp_path: Path) -> None:
    daemon.start()
    model, adapter = models.model(tmp_path / "model"), models.adapter(tmp_path / "adapter", 1)
    lora = {"enable_lora": True, "max_lora_rank": 8}
    time.sleep(1.5)

    def ask(engine: Engine) -> Answers:
        return engine.ask(adapter)

    first = run(ask, tmp_path, model, daemon.path, **lora)
    again = run(ask, tmp_path, model, daemon.path, **lora)
    assert cached(again) > 1400 and wrong(again, first) == 0, "the tier is of no use"

    def overwriting(engine: Engine) -> list[Answers]:
        before = engine.ask(adapter)
        models.adapter(adapter, 2)
        assert engine.reset()
        return [before, engine.ask(adapter)]

    before, still = run(overwriting, tmp_path, model, daemon.path, **lora)
    assert (wrong(before, first), wrong(still, first), cached(still)) == (0, 0, 0)
    time.sleep(1.5)
    truth = run(ask, tmp_path, model, **lora)
    assert wrong(truth, first) == 3
    told = run(ask, tmp_path, model, daemon.path, **lora)
    assert (wrong(told, truth), cached(told)) == (0, 0)
