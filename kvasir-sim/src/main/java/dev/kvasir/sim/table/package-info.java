/**
 * Figures as text and JSON: tables of the terminal, the files of {@code --json} and of requests.
 */
package dev.kvasir.sim.table;
