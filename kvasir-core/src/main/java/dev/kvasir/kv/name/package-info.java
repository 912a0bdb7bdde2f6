/**
 * Identifies blocks: token sequences, the chain of block hashes over them, and the hashers. The
 * model's fingerprint, the adapter and the tenant's salt are part of every hash, so two tenants
 * never share a block (INV-11).
 */
package dev.kvasir.kv.name;
