/** The tier daemon on the command line, and what looks into its folder while it is stopped. */
package dev.kvasir.cli.tier;
