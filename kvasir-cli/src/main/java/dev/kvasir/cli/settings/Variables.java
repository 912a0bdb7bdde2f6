package dev.kvasir.cli.settings;

import dev.kvasir.cli.config.KeyPaths;
import dev.kvasir.spec.Nearest;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The variables of the environment that begin with {@code KVASIR_}. */
public final class Variables {
  private static final String PREFIX = "KVASIR_";

  /** Those that are no settings: of the launcher, and of commands. */
  private static final List<String> OTHERS =
      List.of(
          "KVASIR_JAVA_OPTS",
          "KVASIR_DEBUG",
          "KVASIR_API_KEY",
          "KVASIR_JDK_FOLDERS",
          "KVASIR_CUDA_LIBRARIES",
          "KVASIR_WORKERS");

  /** Kubernetes sets these in each pod for a service whose name begins so. */
  private static final Pattern OF_SERVICES =
      Pattern.compile("KVASIR_(.*_)?(SERVICE_(HOST|PORT).*|PORT_\\d+_(TCP|UDP|SCTP).*)");

  private static final Pattern LINK = Pattern.compile("(tcp|udp|sctp)://.*");

  /** A secret that settings refer to as env:NAME may have any name. */
  private static final Pattern SECRET = Pattern.compile(".*_(KEY|SECRET|TOKEN|PASSWORD)");

  private Variables() {}

  /** A line for each variable that nothing reads. */
  public static List<String> unknown(Map<String, String> environment) {
    var named = new TreeMap<String, String>();
    environment.forEach(
        (name, value) -> {
          if (isOurs(name, value)) named.put(name, value);
        });
    var warnings = new ArrayList<String>();
    if (named.isEmpty()) return warnings;
    var known = known();
    for (var name : named.keySet()) {
      if (known.contains(name)) continue;
      var near = Nearest.to(name, known);
      var hint = near.map(each -> "; did you mean " + each + "?").orElse("");
      warnings.add("nothing reads the variable " + name + hint);
    }
    return warnings;
  }

  private static boolean isOurs(String name, String value) {
    return name.startsWith(PREFIX)
        && !OTHERS.contains(name)
        && !OF_SERVICES.matcher(name).matches()
        && !SECRET.matcher(name).matches()
        && !LINK.matcher(value).matches();
  }

  private static Set<String> known() {
    var known = new LinkedHashSet<>(OTHERS);
    for (var key : KeyPaths.of(Deployment.DEFAULT)) if (!key.isOfList()) known.add(key.variable());
    return known;
  }
}
