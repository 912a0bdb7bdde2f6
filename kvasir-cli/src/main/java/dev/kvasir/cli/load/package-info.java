/** The command {@code load}: its options, and its report as a table or JSON. */
package dev.kvasir.cli.load;
