/**
 * The results of runs: per request, per instance and in total, as tables and as JSON.
 *
 * <p>{@link dev.kvasir.sim.report.RunResult} holds everything that a run gave; {@link
 * dev.kvasir.sim.report.Summary} computes the figures. Tables and JSON only format them.
 */
package dev.kvasir.sim.report;
