package dev.kvasir.gateway.dashboard;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/** Writes records as JSON: their components, and nothing that is computed from them. */
final class StateJson {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .changeDefaultVisibility(seen -> seen.withIsGetterVisibility(Visibility.NONE))
          .addModule(new SimpleModule().addSerializer(double.class, new FiniteOrNull()))
          .build();

  private StateJson() {}

  static String of(Record state) {
    return MAPPER.writeValueAsString(state);
  }

  /** Writes NaN and infinity as null. */
  private static final class FiniteOrNull extends ValueSerializer<Double> {
    @Override
    public void serialize(Double value, JsonGenerator json, SerializationContext context) {
      if (Double.isFinite(value)) {
        json.writeNumber(value);
      } else {
        json.writeNull();
      }
    }
  }
}
