package dev.kvasir.sim.trace;

import dev.kvasir.Nullable;
import dev.kvasir.sim.workload.Content;
import dev.kvasir.sim.workload.Request;
import dev.kvasir.sim.workload.TraceCaller;
import dev.kvasir.sim.workload.Turn;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the rows of a BLIS TraceV2 as BLIS replays them.
 *
 * <p>A request goes off when it was sent, if that is known, and else when it arrived. The first row
 * of a prefix group says how long the prefix of the whole group is. What the server counted goes
 * before what the client asked for, except in a group, where it would count the prefix twice.
 */
final class BlisReader implements RowReader {
  private final CsvRows rows;
  private final BlisHeader header;
  private final Map<String, Integer> groups = new HashMap<>();
  private final Map<String, Integer> contexts = new HashMap<>();
  private final int id;
  private final int tenant;
  private final int sloClass;
  private final int model;
  private final int session;
  private final int round;
  private final int group;
  private final int prefix;
  private final int input;
  private final int output;
  private final int deadline;
  private final int served;
  private final int arrival;
  private final int sent;
  private final int think;
  private long index;

  BlisReader(TraceLines lines, BlisHeader header) {
    this.header = header;
    rows = new CsvRows(lines);
    id = rows.column("request_id");
    input = rows.column("input_tokens");
    output = rows.column("output_tokens");
    arrival = rows.column("arrival_time_us");
    tenant = rows.columnIfAny("tenant_id");
    sloClass = rows.columnIfAny("slo_class");
    model = rows.columnIfAny("model");
    session = rows.columnIfAny("session_id");
    round = rows.columnIfAny("round_index");
    group = rows.columnIfAny("prefix_group");
    prefix = rows.columnIfAny("prefix_length");
    deadline = rows.columnIfAny("deadline_us");
    served = rows.columnIfAny("server_input_tokens");
    sent = rows.columnIfAny("send_time_us");
    think = rows.columnIfAny("think_time_us");
  }

  @Override
  public @Nullable Request next() {
    if (!rows.next()) return null;
    long unit = header.unitNanos();
    long sentNanos = rows.nanosIfAny(sent, unit);
    var name = rows.text(session);
    int prefixTokens = prefixTokens(rows.text(group));
    int outputTokens = rows.tokens(output, 0);
    int contextTokens = grows(name) ? contexts.getOrDefault(name, 0) : 0;
    long prompt = (long) prefixTokens + contextTokens + inputTokens();
    if (prompt < 1 || prompt > Numbers.TOKENS_MAX) {
      throw rows.error(
          "the prompt has " + prompt + " tokens",
          "it must have 1 to " + Numbers.TOKENS_MAX + ": correct or remove the line");
    }
    if (grows(name)) contexts.put(name, (int) prompt - prefixTokens + outputTokens);
    var turn =
        name.isEmpty()
            ? Turn.ALONE
            : new Turn(name, rows.tokensIfAny(round), rows.nanosIfAny(think, unit));
    return new Request(
        RowReader.id(rows.tokens(id, 0)),
        sentNanos > 0 ? sentNanos : rows.nanos(arrival, unit),
        (int) prompt,
        outputTokens,
        content(name, prefixTokens),
        new TraceCaller(rows.text(tenant), rows.text(sloClass), rows.text(model)),
        turn,
        rows.nanosIfAny(deadline, unit));
  }

  private boolean grows(String session) {
    return header.accumulates() && !session.isEmpty();
  }

  private int inputTokens() {
    int server = rows.tokensIfAny(served);
    return server > 0 && rows.text(group).isEmpty() ? server : rows.tokens(input, 0);
  }

  private int prefixTokens(String name) {
    int own = rows.tokensIfAny(prefix);
    if (name.isEmpty()) return 0;
    if (own > 0) groups.putIfAbsent(name, own);
    return groups.getOrDefault(name, 0);
  }

  private Content content(String name, int prefixTokens) {
    long own = index++;
    long shared = Content.number(rows.text(group));
    return grows(name)
        ? Content.session(shared, prefixTokens, Content.number(name))
        : Content.shared(shared, prefixTokens, own);
  }
}
