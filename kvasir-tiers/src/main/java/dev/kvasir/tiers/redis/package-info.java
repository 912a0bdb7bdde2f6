/** Blocks in a Redis or Valkey server, one key for each block. */
package dev.kvasir.tiers.redis;
