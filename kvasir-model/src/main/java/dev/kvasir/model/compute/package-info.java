/** The arithmetic of the model, with vectors where the JDK has them, on a fixed set of threads. */
package dev.kvasir.model.compute;
