/**
 * The arithmetic of the model on a fixed set of threads, with the Vector API where the JDK has it.
 */
package dev.kvasir.model.compute;
