/**
 * Metrics in Prometheus' text format, without a client library (decision 0020).
 *
 * <p>A {@link dev.kvasir.net.metrics.MetricSet} declares each metric once: its name, its help and
 * the function that reads its value. {@code /metrics}, the test of docs/metrics.md and the test of
 * the Grafana dashboard read the same sets.
 */
package dev.kvasir.net.metrics;
