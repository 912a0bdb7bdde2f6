package dev.kvasir.net.machine;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * The result of one check: what was found, and what follows for Kvasir.
 *
 * @param details the same for programs: strings, numbers, booleans and lists of them, by stable
 *     keys; what could not be found out has no key
 */
public record Check(
    String name,
    Status status,
    String found,
    String follows,
    SequencedMap<String, Object> details) {

  public Check {
    if (name.isBlank() || found.isBlank() || follows.isBlank()) {
      throw new IllegalArgumentException(name + ": " + found + ": " + follows);
    }
    details = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(details));
  }
}
