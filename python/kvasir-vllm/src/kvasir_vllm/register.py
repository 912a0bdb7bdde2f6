"""The entry point that vLLM calls when it starts."""


def register() -> None:
    """Makes tiers of type "kvasir" known, whatever version of vLLM this is."""
    try:
        from vllm.v1.kv_offload.tiering.factory import SecondaryTierFactory
    except ImportError:  # vLLM before 0.22 has no tiers.
        return
    if "kvasir" not in SecondaryTierFactory._registry:
        SecondaryTierFactory.register_tier("kvasir", "kvasir_vllm.tier", "KvasirTier")
