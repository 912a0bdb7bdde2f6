/**
 * Checks of this machine and of workers: what was found, and what follows from it.
 *
 * <p>A {@code ...Probe} makes one or more {@link dev.kvasir.net.machine.Check}s. It reads and
 * tries, and changes nothing. A probe that cannot find something out says so instead of guessing.
 */
package dev.kvasir.tools.doctor;
