/**
 * Workers of a gateway: those of its settings, and those that come and go while it serves.
 *
 * <pre>
 *   kvasir.yaml (Reload) ----.
 *   POST, DELETE /workers ---|--> WorkerSources --all, each once--> Gateway: probe, use, retire
 *   file, DNS, Kubernetes ---'
 * </pre>
 */
package dev.kvasir.cli.workers;
