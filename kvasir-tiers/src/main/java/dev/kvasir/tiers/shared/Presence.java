package dev.kvasir.tiers.shared;

/**
 * Presence of a block on a shared tier: a hint, since another process may remove it at any time.
 */
public enum Presence {
  THERE,
  ABSENT,
  UNKNOWN
}
