package dev.kvasir.cli.settings;

/** The format of the log while serving. */
public enum LogFormat {
  /** Lines for people. */
  TEXT,
  /** An object of JSON in each line, for programs. */
  JSON
}
