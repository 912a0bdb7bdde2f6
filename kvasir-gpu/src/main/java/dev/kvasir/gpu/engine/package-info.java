/**
 * The engine's device on a GPU: the model with its memory for blocks, taken once at the start;
 * steps that are launched ahead; and the way between these blocks and host memory, ordered behind
 * them.
 */
package dev.kvasir.gpu.engine;
