package dev.kvasir.gpu;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The resources taken from a GPU, which are released in reverse order, even if some fail.
 *
 * <p>A release fails only if the GPU's context is lost, and then all resources are gone.
 */
public final class CudaStack implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(CudaStack.class.getName());

  private final Deque<AutoCloseable> resources = new ArrayDeque<>();

  /** Adds a resource, which is closed with the stack. */
  public <T extends AutoCloseable> T add(T part) {
    resources.push(part);
    return part;
  }

  @Override
  public void close() {
    while (!resources.isEmpty()) {
      var part = resources.pop();
      try {
        part.close();
      } catch (Exception e) {
        boolean gone = e instanceof CudaFailure failure && failure.isContextLost();
        var name = part.getClass().getSimpleName();
        LOG.log(gone ? DEBUG : WARNING, "{0} was not given back: {1}", name, e);
      }
    }
  }
}
