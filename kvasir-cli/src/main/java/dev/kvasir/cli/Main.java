package dev.kvasir.cli;

import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_COMMAND_LIST;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_OPTION_LIST;
import static picocli.CommandLine.Model.UsageMessageSpec.SECTION_KEY_OPTION_LIST_HEADING;

import dev.kvasir.cli.calibrate.CalibrateCommand;
import dev.kvasir.cli.load.LoadCommand;
import dev.kvasir.cli.serve.CheckConfigCommand;
import dev.kvasir.cli.serve.PickerCommand;
import dev.kvasir.cli.serve.ServeCommand;
import dev.kvasir.cli.simulate.CompatNames;
import dev.kvasir.cli.simulate.ExplainCommand;
import dev.kvasir.cli.simulate.MergeCommand;
import dev.kvasir.cli.simulate.OptionSections;
import dev.kvasir.cli.simulate.PlanCommand;
import dev.kvasir.cli.simulate.SimulateCommand;
import dev.kvasir.cli.tier.FolderCommands;
import dev.kvasir.cli.tier.TierCommand;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Where the command line begins. */
public final class Main {
  private static final int HELP_WIDTH = 100;

  private Main() {}

  public static void main(String[] args) {
    var out = new PrintWriter(System.out, true, System.out.charset());
    var err = new PrintWriter(System.err, true, System.err.charset());
    System.exit(run(out, err, System.getenv(), args));
  }

  static int run(
      PrintWriter out, PrintWriter err, Map<String, String> environment, String... args) {
    var bugs = new Bugs(err, environment);
    try {
      return line(out, err, environment)
          .setExecutionExceptionHandler(bugs)
          .execute(CompatNames.rewritten(args));
    } catch (Throwable bug) { // picocli lets errors through that are no exceptions
      return bugs.report(bug);
    }
  }

  static CommandLine line(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    var version =
        OptionSpec.builder("-V", "--version")
            .versionHelp(true)
            .description("Show the versions of Kvasir and of what it runs on.")
            .build();
    var line = helpful(new CommandLine(new KvasirCommand()));
    line.getCommandSpec().addOption(version);
    var serve = new ServeCommand(out, err, environment, Version.kvasir());
    var picker = new PickerCommand(out, err, environment, Version.kvasir());
    return line.setHelpSectionKeys(commandsBeforeOptions(line.getHelpSectionKeys()))
        .addSubcommand(sectioned(helpful(new CommandLine(serve))))
        .addSubcommand(sectioned(helpful(new CommandLine(picker))))
        .addSubcommand(helpful(new CommandLine(new CheckConfigCommand(out, err, environment))))
        .addSubcommand(sectioned(helpful(SimulateCommand.line(out, err, environment))))
        .addSubcommand(helpful(new CommandLine(new MergeCommand(out, err))))
        .addSubcommand(helpful(new CommandLine(new CalibrateCommand(out, err, environment))))
        .addSubcommand(sectioned(helpful(PlanCommand.line(out, err, environment))))
        .addSubcommand(helpful(new CommandLine(new ExplainCommand(out, err))))
        .addSubcommand(sectioned(helpful(new CommandLine(new FleetCommand(out, err, environment)))))
        .addSubcommand(sectioned(helpful(new CommandLine(new LoadCommand(out, err, environment)))))
        .addSubcommand(tier(out, err, environment))
        .addSubcommand(helpful(new CommandLine(new DoctorCommand(out, err, environment))))
        .addSubcommand(helpful(new CommandLine(new BenchCommand(out, err))))
        .addSubcommand(new CommandLine(new RehearseCommand(err)))
        .setOut(out)
        .setErr(err)
        .setParameterExceptionHandler(new Mistakes(err));
  }

  private static CommandLine tier(
      PrintWriter out, PrintWriter err, Map<String, String> environment) {
    var daemon = helpful(new CommandLine(new TierCommand(out, err, environment)));
    daemon.setHelpSectionKeys(commandsBeforeOptions(daemon.getHelpSectionKeys()));
    return FolderCommands.under(daemon, out, err, environment);
  }

  private static List<String> commandsBeforeOptions(List<String> sections) {
    var commands = List.of(SECTION_KEY_COMMAND_LIST_HEADING, SECTION_KEY_COMMAND_LIST);
    var ordered = new ArrayList<>(sections);
    ordered.removeAll(commands);
    ordered.addAll(ordered.indexOf(SECTION_KEY_OPTION_LIST_HEADING), commands);
    return ordered;
  }

  private static CommandLine sectioned(CommandLine command) {
    command.getHelpSectionMap().put(SECTION_KEY_OPTION_LIST, new OptionSections());
    return command;
  }

  private static CommandLine helpful(CommandLine command) {
    var help =
        OptionSpec.builder("-h", "--help").usageHelp(true).description("Show this help.").build();
    command.getCommandSpec().addOption(help).usageMessage().width(HELP_WIDTH).sortOptions(false);
    return command;
  }
}
