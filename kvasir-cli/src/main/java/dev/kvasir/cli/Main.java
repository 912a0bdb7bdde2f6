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
import dev.kvasir.cli.settings.Variables;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Entry point of the command line. */
public final class Main {
  private static final int HELP_WIDTH = 100;
  private static final Map<String, Description> COMMANDS = commands();

  private Main() {}

  public static void main(String[] args) {
    LogSetup.install();
    var out = new PrintWriter(System.out, true, System.out.charset());
    var err = new PrintWriter(System.err, true, System.err.charset());
    System.exit(run(out, err, System.getenv(), args));
  }

  static int run(
      PrintWriter out, PrintWriter err, Map<String, String> environment, String... args) {
    var bugs = new Bugs(err, environment);
    for (var warning : Variables.unknown(environment)) err.println("kvasir: " + warning);
    try {
      return line(out, err, environment, named(args))
          .setExecutionExceptionHandler(bugs)
          .execute(CompatNames.rewritten(args));
    } catch (Throwable bug) { // picocli lets errors through that are no exceptions
      return bugs.report(bug);
    }
  }

  /** The command line with all its commands. */
  static CommandLine line(PrintWriter out, PrintWriter err, Map<String, String> environment) {
    return line(out, err, environment, "");
  }

  /** The command that the arguments begin with; empty where they do not begin with one. */
  private static String named(String... args) {
    return args.length > 0 && COMMANDS.containsKey(args[0]) ? args[0] : "";
  }

  /**
   * The command line with one of its commands, as what describes the others would take longer than
   * many a run; with all of them where none is named.
   */
  private static CommandLine line(
      PrintWriter out, PrintWriter err, Map<String, String> environment, String named) {
    var version =
        OptionSpec.builder("-V", "--version")
            .versionHelp(true)
            .description("Show the versions of Kvasir and of what it runs on.")
            .build();
    var line = helpful(new CommandLine(new KvasirCommand()));
    line.getCommandSpec().addOption(version);
    line.setHelpSectionKeys(commandsBeforeOptions(line.getHelpSectionKeys()));
    COMMANDS.forEach(
        (name, command) -> {
          if (named.isEmpty() || named.equals(name)) {
            line.addSubcommand(command.describe(out, err, environment));
          }
        });
    return line.setOut(out).setErr(err).setParameterExceptionHandler(new Mistakes(err));
  }

  /** Describes a command: its options and what it does. */
  @FunctionalInterface
  private interface Description {
    CommandLine describe(PrintWriter out, PrintWriter err, Map<String, String> environment);
  }

  /** The commands by name, in the order in which the help lists them. */
  private static Map<String, Description> commands() {
    var all = new LinkedHashMap<String, Description>();
    all.put("serve", (out, err, env) -> sectioned(of(serve(out, err, env))));
    all.put("picker", (out, err, env) -> sectioned(of(picker(out, err, env))));
    all.put("check-config", (out, err, env) -> of(new CheckConfigCommand(out, err, env)));
    all.put("simulate", (out, err, env) -> sectioned(helpful(SimulateCommand.line(out, err, env))));
    all.put("merge", (out, err, _) -> of(new MergeCommand(out, err)));
    all.put("calibrate", (out, err, env) -> of(new CalibrateCommand(out, err, env)));
    all.put("plan", (out, err, env) -> sectioned(helpful(PlanCommand.line(out, err, env))));
    all.put("explain", (out, err, _) -> of(new ExplainCommand(out, err)));
    all.put("fleet", (out, err, env) -> sectioned(of(new FleetCommand(out, err, env))));
    all.put("load", (out, err, env) -> sectioned(of(new LoadCommand(out, err, env))));
    all.put("tier", Main::tier);
    all.put("doctor", (out, err, env) -> of(new DoctorCommand(out, err, env)));
    all.put("bench", (out, err, _) -> of(new BenchCommand(out, err)));
    all.put("prepare", (_, err, _) -> of(new PrepareCommand(err)));
    all.put("rehearse", (_, err, _) -> new CommandLine(new RehearseCommand(err)));
    return all;
  }

  private static ServeCommand serve(
      PrintWriter out, PrintWriter err, Map<String, String> environment) {
    return new ServeCommand(out, err, environment, Version.kvasir());
  }

  private static PickerCommand picker(
      PrintWriter out, PrintWriter err, Map<String, String> environment) {
    return new PickerCommand(out, err, environment, Version.kvasir());
  }

  private static CommandLine of(Object command) {
    return helpful(new CommandLine(command));
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
