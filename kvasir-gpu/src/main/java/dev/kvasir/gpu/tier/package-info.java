/**
 * GPU memory as the top tier: blocks on the device, registered host memory below, and a store that
 * copies between them by the method that was measured to be fastest.
 *
 * <p>A copy starts only after the stream that writes its block has passed the given event, and a
 * failed copy never registers a block (INV-3).
 */
package dev.kvasir.gpu.tier;
