package dev.kvasir.sim.trace;

import java.io.InputStream;

/**
 * The bytes of a trace, plain or compressed by gzip, and the name to call them by in errors.
 *
 * @param bytes read as requests are asked for; whoever opened it closes it
 */
public record TraceInput(String name, InputStream bytes) {}
