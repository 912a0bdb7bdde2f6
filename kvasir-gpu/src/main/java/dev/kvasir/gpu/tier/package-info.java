/**
 * The memory of a GPU as the top tier: blocks on the device, host memory below registered with the
 * driver, and a store that copies between them by the way that was measured to be quickest.
 *
 * <p>A copy starts only after the stream that writes its block has passed the given event, and a
 * failed copy never registers a block (INV-3).
 */
package dev.kvasir.gpu.tier;
