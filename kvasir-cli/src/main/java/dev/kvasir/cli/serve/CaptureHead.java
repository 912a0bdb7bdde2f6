package dev.kvasir.cli.serve;

import dev.kvasir.live.http.Json;
import java.util.SequencedMap;

/** The first line of a capture: how the cluster was set, in options of {@code simulate}. */
record CaptureHead(SequencedMap<String, String> settings) {
  String line() {
    var line = Json.object().put("schema", "kvasir.settings.v1");
    var options = line.putObject("settings");
    settings.forEach(options::put);
    return line.toString();
  }
}
