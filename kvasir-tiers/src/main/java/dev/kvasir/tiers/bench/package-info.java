/**
 * Measurements of {@code kvasir bench}: host memory and disk beside plain copies and plain I/O in
 * the same run.
 */
package dev.kvasir.tiers.bench;
