/**
 * Records of requests: one {@link dev.kvasir.gateway.journal.Decision} for each goes to the
 * metrics, the dashboard, the log, the capture and the traces.
 *
 * <p>Lines are made and written on other threads, within bounds; what comes too fast is dropped and
 * counted.
 */
package dev.kvasir.gateway.journal;
