/**
 * Decides where each request is prefilled and decoded, and tracks the load of each worker. {@link
 * dev.kvasir.router.Router#open} classifies, picks, places and books in one step.
 *
 * <pre>
 *   open --> PREFILLING --> TRANSFERRING --> DECODING --> closed
 *                  \_____________________________^  prefilled where it is decoded
 * </pre>
 *
 * <p>An entry of the ledger opens once and closes once, whatever happens (INV-8).
 */
package dev.kvasir.router;
