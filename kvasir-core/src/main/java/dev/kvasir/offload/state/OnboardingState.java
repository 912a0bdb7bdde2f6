package dev.kvasir.offload.state;

import dev.kvasir.offload.onboard.OnboardingLoad;

/** Onboarding load of one engine: what is on its way up to its memory. */
public record OnboardingState(String engine, OnboardingLoad load) {}
