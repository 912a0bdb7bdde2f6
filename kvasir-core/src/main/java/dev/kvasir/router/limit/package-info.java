/**
 * Limits on what is asked of a fleet: who asks, the limits of a key, the meter of their use, and
 * policies that admit a request or not. Whatever is not served gets a {@link
 * dev.kvasir.router.limit.Refusal} with its reason.
 */
package dev.kvasir.router.limit;
