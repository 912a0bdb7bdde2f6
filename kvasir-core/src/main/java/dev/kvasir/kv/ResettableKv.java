package dev.kvasir.kv;

/** KV memory whose cache an operator can clear. */
public interface ResettableKv extends KvStore {
  /** Drops every block that is not held, on all tiers; returns how many left engine memory. */
  int clear();
}
