package dev.kvasir.cli;

/** Where the command line begins. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {
    System.out.println("kvasir");
  }
}
