package dev.kvasir.cli.simulate;

import dev.kvasir.Nullable;
import dev.kvasir.sim.spec.Section;
import dev.kvasir.sim.workload.WorkloadSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A question to the simulator in a file: a workload, settings, and what to vary.
 *
 * @param workload null where the settings name a file
 */
record ScenarioFile(Settings settings, List<Dimension> sweep, @Nullable WorkloadSpec workload) {

  static ScenarioFile read(Path file, Knobs knobs) throws IOException {
    try (var yaml = Files.newBufferedReader(file)) {
      var reading = new Reading(file, knobs);
      return Section.read(file.toString(), yaml).as(reading::scenario);
    }
  }

  /** Files that a scenario names lie where it lies. */
  private record Reading(Path file, Knobs knobs) {
    ScenarioFile scenario(Section section) {
      var settings = Settings.none(knobs);
      WorkloadSpec workload = null;
      if (section.hasSection("workload")) {
        var described = section.section("workload");
        if (described.has("trace")) settings = described.as(this::trace);
        else workload = described.as(WorkloadSpec::read);
      } else if (section.has("workload")) {
        settings = settings.with("workload", beside(section.text("workload")));
      }
      var given = section.sectionIfAny("settings", this::settings);
      if (given != null) settings = settings.under(given);
      var sweep = section.sectionIfAny("sweep", this::sweep);
      return new ScenarioFile(settings, sweep == null ? List.of() : sweep, workload);
    }

    private Settings trace(Section section) {
      return Settings.none(knobs).with("trace", beside(section.text("trace")));
    }

    private Settings settings(Section section) {
      var settings = Settings.none(knobs);
      for (var name : section.keys()) {
        requireOption(section, name);
        settings = settings.with(name, String.join(",", values(section, name)));
      }
      return settings;
    }

    private List<Dimension> sweep(Section section) {
      var dimensions = new ArrayList<Dimension>();
      for (var name : section.keys()) {
        requireOption(section, name);
        dimensions.add(Dimension.of(name, values(section, name), knobs));
      }
      return dimensions;
    }

    private void requireOption(Section section, String name) {
      if (!knobs.isKnown(name)) throw section.error(Knobs.unknown(name), knobs.hint(name));
      if (List.of("scenario", "sweep").contains(name)) {
        throw section.error("'" + name + "' is no setting", "write it at the top of the file");
      }
    }

    private List<String> values(Section section, String name) {
      var texts = section.texts(name);
      return Knobs.isFile(knobs.named(name)) ? texts.stream().map(this::beside).toList() : texts;
    }

    private String beside(String named) {
      return file.resolveSibling(named).toString();
    }
  }
}
