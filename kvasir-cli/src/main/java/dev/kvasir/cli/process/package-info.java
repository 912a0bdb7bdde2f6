/** How a command ends: exit codes, messages about wrong input, and interrupts. */
package dev.kvasir.cli.process;
