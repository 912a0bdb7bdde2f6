/**
 * What the tier daemon makes of memory and disk, held against plain copies and plain reads in the
 * same run.
 */
package dev.kvasir.bench.tier;
