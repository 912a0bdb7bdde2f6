/**
 * The command line: {@link dev.kvasir.cli.Main} runs a {@link dev.kvasir.cli.KvasirCommand} with
 * its subcommands. Small commands are here, large ones in the packages below.
 *
 * <p>A wrong option or file ends with one line that says what is wrong and what to do, and with an
 * exit code of {@code sysexits.h}; a stack trace is shown only with {@code KVASIR_DEBUG}.
 */
package dev.kvasir.cli;
