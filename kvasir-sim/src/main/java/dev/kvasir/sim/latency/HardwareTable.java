package dev.kvasir.sim.latency;

import java.io.Reader;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** GPUs by name. */
public final class HardwareTable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Hardware A100 = new Hardware("A100-SXM", 312, 0, 2.039, 0.38, 0.18, 80);

  private final SequencedMap<String, Hardware> gpus;

  private HardwareTable(SequencedMap<String, Hardware> gpus) {
    this.gpus = gpus;
  }

  /** The GPUs whose figures come along. */
  public static HardwareTable known() {
    var gpus = new LinkedHashMap<String, Hardware>();
    gpus.put("H100", new Hardware("H100", 989.5, 1979, 3.35, 0.45, 0.30, 80));
    // NVIDIA's data sheet: the arithmetic of an H100, 141 GB of HBM3e at 4.8 TB/s.
    gpus.put("H200", new Hardware("H200", 989.5, 1979, 4.8, 0.45, 0.30, 141));
    // NVIDIA's data sheet of HGX B200, an eighth of it; the shares are an H100's, not measured.
    gpus.put("B200", new Hardware("B200", 2250, 4500, 7.7, 0.45, 0.30, 180));
    // AMD's data sheet, without sparsity; the shares are an H100's, not measured.
    gpus.put("MI300X", new Hardware("MI300X", 1307.4, 2614.9, 5.3, 0.45, 0.30, 192));
    for (var name : List.of("A100-SXM", "A100-80", "A100")) gpus.put(name, A100);
    gpus.put("L40S", new Hardware("L40S", 362.05, 733, 0.864, 0.32, 0.08, 48));
    return new HardwareTable(gpus);
  }

  /** Reads GPUs by name, each with its figures; the source is named in errors. */
  public static HardwareTable read(Reader reader, String source) {
    JsonNode root;
    try {
      root = JSON.readTree(reader);
    } catch (JacksonException e) {
      throw new LatencyError(
          source + ": not JSON (" + e.getOriginalMessage() + "); give GPUs by name", e);
    }
    if (!(root instanceof ObjectNode table)) {
      throw new LatencyError(source + ": no object; give GPUs by name");
    }
    var gpus = new LinkedHashMap<String, Hardware>();
    for (Map.Entry<String, JsonNode> entry : table.properties()) {
      try {
        gpus.put(entry.getKey(), hardware(entry.getKey(), entry.getValue()));
      } catch (IllegalArgumentException e) {
        throw new LatencyError(source + ": " + e.getMessage(), e);
      }
    }
    return new HardwareTable(gpus);
  }

  private static Hardware hardware(String name, JsonNode figures) {
    return new Hardware(
        name,
        figures.path("TFlopsPeak").asDouble(0),
        figures.path("TFlopsFP8").asDouble(0),
        figures.path("BwPeakTBs").asDouble(0),
        figures.path("mfuPrefill").asDouble(0),
        figures.path("mfuDecode").asDouble(0),
        figures.path("MemoryGiB").asDouble(0));
  }

  /** All of them, each once. */
  public List<Hardware> all() {
    return gpus.sequencedValues().stream().distinct().toList();
  }

  /** The GPU of that name. */
  public Hardware find(String name) {
    var hardware = gpus.get(name);
    if (hardware == null) {
      throw new LatencyError(
          "no GPU named " + name + "; known are " + String.join(", ", gpus.sequencedKeySet()));
    }
    return hardware;
  }
}
