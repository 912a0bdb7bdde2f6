/**
 * Settings as they are written in a file, in the environment or on the command line. {@link
 * dev.kvasir.spec.Written} keeps each value with its place, and {@link dev.kvasir.spec.Section}
 * reads a part strictly: a key that nobody reads is an error, which suggests the nearest one.
 */
package dev.kvasir.spec;
