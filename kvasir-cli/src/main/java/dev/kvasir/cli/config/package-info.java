/**
 * Reads records of settings: each component of a record is a key.
 *
 * <pre>
 *   YAML, variables, options -- Written, with the place of each value -- records
 * </pre>
 *
 * <p>What is wrong is reported with its place, its path and what to do.
 */
package dev.kvasir.cli.config;
