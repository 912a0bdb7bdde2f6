/** End of a command: exit codes, messages about wrong input, and interrupts. */
package dev.kvasir.cli.process;
