package dev.kvasir.router.view;

/**
 * An engine that requests can be routed to, as it is configured.
 *
 * @param connector how it hands K and V to others; it can do so to instances with the same one, and
 *     to nobody where it is empty
 * @param blocks how many blocks its cache has, for instances that send no events
 */
public record Instance(String name, Role role, String connector, int blocks) {
  /** As many blocks as are remembered of an instance whose size is not known. */
  public static final int BLOCKS_DEFAULT = 10_000;

  public Instance {
    if (name.isBlank()) throw new IllegalArgumentException("an instance needs a name");
    if (blocks < 1) throw new IllegalArgumentException(name + " with " + blocks + " blocks");
  }

  /** One that prefills and decodes, and can hand its K and V to all others made like this. */
  public static Instance of(String name) {
    return new Instance(name, Role.BOTH, "any", BLOCKS_DEFAULT);
  }
}
