package dev.kvasir.bench;

import org.openjdk.jmh.Main;

/** Runs the benchmarks. */
public final class Bench {
  private Bench() {}

  public static void main(String[] args) throws Exception {
    Main.main(args);
  }
}
