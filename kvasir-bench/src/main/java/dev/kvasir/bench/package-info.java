/**
 * Benchmarks: with JMH where a case is small, as programs where processes, disks or other products
 * are compared.
 *
 * <p>Each measures its subject and a limit or a peer in the same run and prints ratios.
 * docs/benchmarks.md has the commands.
 */
package dev.kvasir.bench;
