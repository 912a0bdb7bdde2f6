package dev.kvasir.events;

/** The two ways in which engines write an event. */
public enum EventEncoding {
  /** Values in a fixed order: vLLM before 0.24, and SGLang. */
  ARRAY,
  /** Values by name, without those that nobody set: vLLM since 0.24. */
  MAP
}
