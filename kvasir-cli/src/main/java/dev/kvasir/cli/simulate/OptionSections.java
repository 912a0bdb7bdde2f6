package dev.kvasir.cli.simulate;

import java.util.ArrayList;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Lists options under the heading of the class that holds them.
 *
 * <p>Groups of picocli are not used: in a group, an option that is given twice silently resets all
 * others of the group.
 */
public final class OptionSections implements IHelpSectionRenderer {
  @Override
  public String render(Help help) {
    var spec = help.commandSpec();
    var text = new StringBuilder();
    var rest = new ArrayList<>(spec.options());
    for (var mixin : spec.mixins().values()) {
      for (var part : mixin.mixins().values()) {
        var options = new ArrayList<OptionSpec>(part.options());
        options.retainAll(spec.options());
        rest.removeAll(options);
        text.append(heading(part));
        text.append(help.optionListExcludingGroups(options));
      }
    }
    return help.optionListExcludingGroups(rest) + text;
  }

  private static String heading(CommandSpec part) {
    return part.usageMessage().optionListHeading().replace("%n", "\n");
  }
}
