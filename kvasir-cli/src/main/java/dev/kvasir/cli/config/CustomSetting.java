package dev.kvasir.cli.config;

import dev.kvasir.spec.Written;
import java.util.List;

/** A setting that is neither a record nor a single value, and that reads itself. */
public interface CustomSetting<T> {
  /** Reads the value; this is the default. */
  T read(String path, Written written);

  /** All keys below that path. */
  List<KeyPaths.Key> keys(String path);
}
