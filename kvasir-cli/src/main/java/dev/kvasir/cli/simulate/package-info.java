/**
 * The command {@code simulate}: from options and files to a plan, and from a plan to runs.
 *
 * <pre>
 *   command line -- CompatNames -- Plan (layers of the deployment, requests, what to vary)
 *                                       -- Setup, for each point -- dev.kvasir.sim
 * </pre>
 *
 * <p>Under {@code --compat blis}, {@code BlisSetup} takes the place of {@code Setup}.
 */
package dev.kvasir.cli.simulate;
