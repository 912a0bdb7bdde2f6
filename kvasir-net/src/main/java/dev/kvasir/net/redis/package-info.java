/** Connections to Redis or Valkey: the server, access, and channels. */
package dev.kvasir.net.redis;
