/**
 * Measurements of the tier daemon on memory and disk, beside plain copies and plain reads in the
 * same run.
 */
package dev.kvasir.bench.tier;
