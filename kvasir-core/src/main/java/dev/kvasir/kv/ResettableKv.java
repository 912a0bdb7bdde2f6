package dev.kvasir.kv;

/** KV memory whose cache can be forgotten, as an operator asks for. */
public interface ResettableKv extends KvStore {
  /** Forgets every block that nobody holds, on all tiers; tells how many left engine memory. */
  int clear();
}
