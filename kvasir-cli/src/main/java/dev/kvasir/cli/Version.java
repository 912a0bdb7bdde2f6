package dev.kvasir.cli;

import picocli.CommandLine.IVersionProvider;

/** The versions of Kvasir, the JDK and the system. */
public final class Version implements IVersionProvider {

  /** The version in the jar's manifest; classes that lie in a folder have none. */
  public static String kvasir() {
    String version = Version.class.getPackage().getImplementationVersion();
    return version == null ? "unpackaged" : version;
  }

  @Override
  public String[] getVersion() {
    return new String[] {
      "kvasir " + kvasir(),
      "JDK " + Runtime.version() + ", " + System.getProperty("java.vendor"),
      System.getProperty("os.name")
          + " "
          + System.getProperty("os.version")
          + ", "
          + System.getProperty("os.arch")
    };
  }
}
