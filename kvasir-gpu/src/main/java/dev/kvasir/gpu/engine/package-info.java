/**
 * Embedded engines on a GPU: the model and its KV blocks, allocated once at start; steps that are
 * launched ahead; and copies between these blocks and host memory, ordered behind the steps.
 */
package dev.kvasir.gpu.engine;
