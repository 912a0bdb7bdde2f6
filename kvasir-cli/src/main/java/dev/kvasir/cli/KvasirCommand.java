package dev.kvasir.cli;

import picocli.CommandLine.Command;

/** The top-level command; by itself it prints its help. */
@Command(
    name = "kvasir",
    header = "Kvasir keeps the KV cache of large language models alive across memory tiers.%n",
    customSynopsis = "kvasir COMMAND [OPTIONS]",
    commandListHeading = "%nCommands:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  kvasir serve",
      "  kvasir check-config kvasir.yaml",
      "  kvasir simulate --trace conversation_trace.jsonl --instances 8",
      "  kvasir load --url http://127.0.0.1:8000 --rate 4 --requests 200",
      "  kvasir doctor --cache-dir /var/cache/kvasir",
      "  kvasir bench --tiers --dir /var/cache",
      "  kvasir prepare     (quick starts: done at the first 'serve', here for an image or a"
          + " package)",
      "",
      "Environment:",
      "  JAVA25_HOME        the JDK to use (default: searched for)",
      "  KVASIR_API_KEY     the API key that 'kvasir load' sends",
      "  KVASIR_LISTEN_PORT and so on: settings of 'kvasir serve', see docs/configuration.md",
      "  KVASIR_JAVA_OPTS   options for the JVM, such as -Xmx8g",
      "  KVASIR_DEBUG=1     shows where an internal error happened",
      "  NO_COLOR=1         no colours",
      "",
      "'kvasir COMMAND --help' explains a command."
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:success",
      "64:the command line is wrong",
      "65:a file cannot be read, or is not valid",
      "69:something needed is missing",
      "70:an internal error, or a build that failed"
    },
    versionProvider = Version.class)
final class KvasirCommand {}
