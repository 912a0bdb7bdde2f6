package dev.kvasir.sim.report;

import java.util.List;

/**
 * Everything a simulated run gave.
 *
 * @param requests what became of each request, in the order of arrival
 * @param instances what each instance did
 * @param endMicros when the last thing happened
 * @param timeline how busy the cluster was over time
 */
public record RunResult(
    List<RequestResult> requests,
    List<InstanceResult> instances,
    long endMicros,
    Timeline timeline) {}
