package dev.kvasir.model.compute;

/** The JDK's module with the Vector API, which is loaded only on request. */
final class VectorModule {
  private static final String NAME = "jdk.incubator.vector";

  private VectorModule() {}

  /**
   * Whether it is there; loads it where java was not asked to at its start.
   *
   * <p>A java that is asked to makes less of an AOT cache, and starts a second later. Loading takes
   * what the JDK has for itself; the manifest of Kvasir's jar gives access, others have none.
   */
  static boolean isLoaded() {
    if (ModuleLayer.boot().findModule(NAME).isPresent()) return true;
    try {
      var modules = Class.forName("jdk.internal.module.Modules");
      modules.getMethod("loadModule", String.class).invoke(null, NAME);
      return true;
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }
}
