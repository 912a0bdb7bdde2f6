package dev.kvasir.tools.doctor;

import dev.kvasir.net.machine.Bytes;
import dev.kvasir.net.machine.Check;
import dev.kvasir.net.machine.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Optional;

/** Checks whether the disk tier can keep its blocks in the cache folder. */
final class CacheProbe {
  private static final long COMFORTABLE_BYTES = Bytes.GIB;
  private static final String ELSEWHERE = "give another one with --cache-dir";

  private CacheProbe() {}

  static Check look(CachePlace place) {
    var details = new LinkedHashMap<String, Object>();
    details.put("folder", place.wanted().toString());
    details.put("exists", place.exists());
    details.put("fileSystem", place.fileSystem());
    Optional<String> obstacle = obstacle(place.nearest());
    details.put("writable", obstacle.isEmpty());
    if (obstacle.isPresent()) {
      return new Check(
          "cache",
          Status.MISSING,
          place.wanted() + ": " + obstacle.get(),
          "the disk tier has no place for its blocks; " + ELSEWHERE,
          details);
    }
    long freeBytes = freeBytes(place.nearest());
    details.put("freeBytes", freeBytes);
    String found =
        place.wanted()
            + (place.exists() ? ", " : " (not there yet), ")
            + place.fileSystem()
            + ", "
            + Bytes.text(freeBytes)
            + " free";
    Optional<String> reservation = reservation(place, freeBytes);
    return new Check(
        "cache",
        reservation.isPresent() ? Status.NOTE : Status.OK,
        found,
        reservation.orElse(
            place.exists()
                ? "the disk tier can keep its blocks there"
                : "the disk tier can create it and keep its blocks there"),
        details);
  }

  /**
   * Returns why the folder cannot be written to. This tries it, since permissions say little about
   * root.
   */
  private static Optional<String> obstacle(Path nearest) {
    if (!Files.isDirectory(nearest)) {
      return Optional.of(nearest + " is not a folder");
    }
    try {
      Files.delete(Files.createTempFile(nearest, ".kvasir-doctor", ".tmp"));
      return Optional.empty();
    } catch (IOException refusal) {
      return Optional.of(nearest + " cannot be written to");
    }
  }

  private static Optional<String> reservation(CachePlace place, long freeBytes) {
    if (place.inMemory()) {
      return Optional.of(
          place.fileSystem()
              + " is memory: blocks there use up RAM and are lost on a restart; "
              + "put --cache-dir on a local disk");
    }
    if (place.remote()) {
      return Optional.of(
          place.fileSystem()
              + " is remote: the disk tier will be as slow as the network; "
              + "put --cache-dir on a local disk");
    }
    return freeBytes < COMFORTABLE_BYTES
        ? Optional.of("too little space for a disk tier worth having; " + ELSEWHERE)
        : Optional.empty();
  }

  private static long freeBytes(Path nearest) {
    try {
      return Files.getFileStore(nearest).getUsableSpace();
    } catch (IOException unknown) {
      return 0;
    }
  }
}
