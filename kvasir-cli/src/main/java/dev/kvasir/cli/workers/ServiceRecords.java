package dev.kvasir.cli.workers;

import dev.kvasir.cli.settings.DiscoverySettings;
import dev.kvasir.cli.settings.WorkerSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import javax.naming.NamingException;
import javax.naming.directory.InitialDirContext;

/**
 * The workers that the SRV records of a name stand for, with host and port each. Priorities and
 * weights of the records are not used: the router knows better who is free.
 *
 * <p>An answer too long for a datagram is asked for again by TCP.
 */
final class ServiceRecords implements WorkerDiscovery.Lookup {
  private static final String TIMEOUT_MILLIS = "1000";
  private static final String TRIES = "2";

  private final DiscoverySettings settings;

  ServiceRecords(DiscoverySettings settings) {
    this.settings = settings;
  }

  /** Fails if there are no records: a name without workers is removed from DNS. */
  @Override
  public List<WorkerSettings> workers() throws IOException {
    var lines = records();
    if (lines.isEmpty()) throw new IOException(settings.dns() + " has no SRV records");
    var workers = new ArrayList<WorkerSettings>();
    for (var line : lines) workers.add(worker(line));
    return workers;
  }

  /** Only DNS is asked, for a name that the operator has set, and its records are read as text. */
  @SuppressWarnings("BanJNDI")
  private SortedSet<String> records() throws IOException {
    try {
      var context = new InitialDirContext(environment());
      try {
        var records = context.getAttributes(settings.dns(), new String[] {"SRV"}).get("SRV");
        var lines = new TreeSet<String>();
        for (int i = 0; records != null && i < records.size(); i++) {
          lines.add(String.valueOf(records.get(i)));
        }
        return lines;
      } finally {
        context.close();
      }
    } catch (NamingException e) {
      throw new IOException("DNS has no answer for " + settings.dns() + ": " + e.getMessage(), e);
    }
  }

  @SuppressWarnings("JdkObsolete") // The interface of naming takes no other table.
  private Hashtable<String, String> environment() {
    var environment = new Hashtable<String, String>();
    environment.put("java.naming.factory.initial", "com.sun.jndi.dns.DnsContextFactory");
    environment.put("java.naming.provider.url", "dns://" + settings.dnsServer());
    environment.put("com.sun.jndi.dns.timeout.initial", TIMEOUT_MILLIS);
    environment.put("com.sun.jndi.dns.timeout.retries", TRIES);
    return environment;
  }

  /** A record reads {@code PRIORITY WEIGHT PORT HOST.} */
  private WorkerSettings worker(String record) throws IOException {
    var parts = record.split(" ", -1);
    if (parts.length != 4) throw new IOException("\"" + record + "\" is no SRV record");
    var host = parts[3].endsWith(".") ? parts[3].substring(0, parts[3].length() - 1) : parts[3];
    return settings.worker(host, parts[2]);
  }

  @Override
  public String toString() {
    return "DNS " + settings.dns();
  }
}
