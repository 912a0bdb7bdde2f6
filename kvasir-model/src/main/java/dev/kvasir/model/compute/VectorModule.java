package dev.kvasir.model.compute;

/** The JDK's module with the Vector API, which is loaded only on request. */
final class VectorModule {
  private static final String NAME = "jdk.incubator.vector";

  private VectorModule() {}

  /**
   * Returns whether it is there; loads it if Java was not asked to at its start.
   *
   * <p>Java that is asked to makes less use of an AOT cache, and starts a second later. Loading it
   * uses internals of the JDK: the manifest of Kvasir's jar gives access to them, others have none.
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
