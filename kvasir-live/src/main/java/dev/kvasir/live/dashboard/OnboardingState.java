package dev.kvasir.live.dashboard;

import dev.kvasir.offload.onboard.OnboardingLoad;

/** What is on its way up to the memory of one engine. */
public record OnboardingState(String engine, OnboardingLoad load) {}
