/**
 * Finds out from captures how a deployment takes its time, and writes it down as a profile.
 *
 * <pre>
 *   captures - check - requests by server ---+
 *                                            +- fit: replay, compare, change - profile
 *   model and GPU - prior (a roofline) ------+        ^___________|
 * </pre>
 *
 * <p>The forward model is the product's own engine behind {@link dev.kvasir.sim.server}: a fit
 * replays the captured requests and changes the times until what is predicted spreads as what was
 * measured. Where the captures say little, a time stays near its prior, and its interval is wide.
 */
package dev.kvasir.sim.calibrate;
