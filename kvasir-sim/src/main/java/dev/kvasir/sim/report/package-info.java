/**
 * The figures of runs, computed from their results: a summary, goodput, the comparison of several
 * runs, and how near a run comes to a capture. {@link dev.kvasir.sim.report.Summary} computes most
 * of them.
 */
package dev.kvasir.sim.report;
