/**
 * The one YAML reader. {@code YamlReader} keeps what is written with the line of each value, and
 * {@code Section} reads a part of it strictly: a key that nobody asks for is an error.
 */
package dev.kvasir.sim.spec;
