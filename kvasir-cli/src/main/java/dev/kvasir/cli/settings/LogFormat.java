package dev.kvasir.cli.settings;

/** How it is told what happens while serving. */
public enum LogFormat {
  /** Lines for people. */
  TEXT,
  /** An object of JSON in each line, for programs. */
  JSON
}
