/** Blocks in a Redis or Valkey server, one key for each block. */
package dev.kvasir.live.store.shared.redis;
