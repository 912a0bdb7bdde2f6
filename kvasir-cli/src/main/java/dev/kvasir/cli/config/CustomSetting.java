package dev.kvasir.cli.config;

import dev.kvasir.sim.spec.Written;
import java.util.List;

/** A setting that is no record and no single value, and that reads itself. */
public interface CustomSetting<T> {
  /** What is written there, over this as the default. */
  T read(String path, Written written);

  /** All keys below that path. */
  List<KeyPaths.Key> keys(String path);
}
