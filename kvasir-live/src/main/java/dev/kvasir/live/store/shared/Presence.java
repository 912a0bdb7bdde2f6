package dev.kvasir.live.store.shared;

/** What is known of a block on a shared tier: a hint, for another may remove it at any time. */
public enum Presence {
  THERE,
  ABSENT,
  UNKNOWN
}
