/**
 * Decides where a request is prefilled and decoded, and keeps the books of what is under way.
 * {@link dev.kvasir.router.Router#open} classifies, picks, places and books in one step.
 *
 * <pre>
 *   open --> PREFILLING --> TRANSFERRING --> DECODING --> closed
 *                  \_____________________________^  prefilled where it is decoded
 * </pre>
 *
 * <p>An entry of the ledger opens once and closes once, whatever happens (INV-8).
 */
package dev.kvasir.router;
