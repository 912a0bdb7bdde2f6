/**
 * Program that {@code java -jar} runs: it checks the version of Java and starts the command line.
 */
package dev.kvasir.boot;
