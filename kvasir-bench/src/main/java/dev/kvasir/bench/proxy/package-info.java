/** Benchmarks of HTTP: the gateway beside others, callers who leave, and two ways to drive it. */
package dev.kvasir.bench.proxy;
