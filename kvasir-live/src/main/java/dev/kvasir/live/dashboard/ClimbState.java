package dev.kvasir.live.dashboard;

import dev.kvasir.offload.onboard.ClimbLoad;

/** What is on its way up to the memory of one engine. */
public record ClimbState(String engine, ClimbLoad load) {}
