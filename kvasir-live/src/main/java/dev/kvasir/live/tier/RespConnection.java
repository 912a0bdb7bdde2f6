package dev.kvasir.live.tier;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.Nullable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** One client of the Redis protocol, on a thread of its own. */
final class RespConnection {
  private static final int ARGUMENTS_MAX = 1_024;
  private static final int KEY_BYTES_MAX = 64 << 10;
  private static final byte[] OK = ascii("+OK\r\n");

  private final StoredValues values;
  private final byte @Nullable [] password;
  private final long valueBytesMax;
  private final SocketChannel socket;
  private final RespReader reader;
  private final RespServer.Counts counts;
  private final ByteBuffer out = ByteBuffer.allocateDirect(64 << 10);
  private boolean known;
  private boolean third;

  RespConnection(
      StoredValues values,
      byte @Nullable [] password,
      long valueBytesMax,
      SocketChannel socket,
      RespServer.Counts counts) {
    this.values = values;
    this.password = password;
    this.valueBytesMax = valueBytesMax;
    this.socket = socket;
    this.reader = new RespReader(socket);
    this.counts = counts;
    this.known = password == null;
  }

  void serve() throws IOException {
    try {
      while (true) {
        int count = reader.begin(ARGUMENTS_MAX);
        if (count == 0) continue;
        command(word(reader.string(KEY_BYTES_MAX)), count - 1);
        flush();
      }
    } catch (RespReader.Malformed e) {
      error("ERR Protocol error: " + e.getMessage());
      flush();
    } catch (EOFException e) {
      // The client has left.
    }
  }

  private static String word(byte[] bytes) {
    return new String(bytes, ISO_8859_1).toUpperCase(Locale.ROOT);
  }

  private void command(String name, int left) throws IOException {
    counts.commands.increment();
    if (name.equals("SET") && left >= 2 && known) {
      set(left);
      return;
    }
    var more = new ArrayList<byte[]>();
    for (int i = 0; i < left; i++) {
      if (i == 1 && name.equals("SET")) skipString();
      else more.add(reader.string(KEY_BYTES_MAX));
    }
    switch (name) {
      case "AUTH" -> auth(more);
      case "HELLO" -> hello(more);
      case "QUIT" -> {
        put(OK);
        flush();
        throw new EOFException("the client quits");
      }
      default -> {
        if (known) others(name, more);
        else error("NOAUTH Authentication required.");
      }
    }
  }

  private void skipString() throws IOException {
    reader.skip(reader.length(valueBytesMax));
    reader.end();
  }

  private void others(String name, List<byte[]> more) throws IOException {
    switch (name) {
      case "PING" -> {
        if (more.isEmpty()) put(ascii("+PONG\r\n"));
        else bulk(more.getFirst());
      }
      case "ECHO" -> bulk(more.isEmpty() ? new byte[0] : more.getFirst());
      case "SELECT", "CLIENT" -> put(OK);
      case "INFO" -> bulk(RespServer.info(values, counts).getBytes(UTF_8));
      case "COMMAND" -> put(ascii("*0\r\n"));
      case "GET" -> {
        if (arity(name, more, 1)) get(more.getFirst());
      }
      case "MGET" -> {
        put(ascii("*" + more.size() + "\r\n"));
        for (var key : more) get(key);
      }
      case "EXISTS" -> number(more.stream().filter(values::exists).count());
      case "DEL", "UNLINK" -> number(more.stream().filter(values::remove).count());
      case "SET" -> error("ERR wrong number of arguments for 'set' command");
      default -> error("ERR unknown command '" + printable(name) + "'");
    }
  }

  private boolean arity(String name, List<byte[]> more, int count) throws IOException {
    if (more.size() == count) return true;
    error("ERR wrong number of arguments for '" + name.toLowerCase(Locale.ROOT) + "' command");
    return false;
  }

  private static String printable(String name) {
    var some = name.substring(0, Math.min(name.length(), 64));
    return some.replaceAll("[^\\x20-\\x7e]", "?");
  }

  private void auth(List<byte[]> words) throws IOException {
    if (words.isEmpty() || words.size() > 2) {
      error("ERR wrong number of arguments for 'auth' command");
    } else if (admit(words.getLast())) {
      put(OK);
    } else {
      refuse();
    }
  }

  private boolean admit(byte[] said) {
    known = password == null || MessageDigest.isEqual(password, said);
    return known;
  }

  private void refuse() throws IOException {
    counts.wrongPasswords.increment();
    error("WRONGPASS invalid username-password pair or user is disabled.");
  }

  private void hello(List<byte[]> words) throws IOException {
    var version = words.isEmpty() ? (third ? "3" : "2") : new String(words.getFirst(), ISO_8859_1);
    if (!version.equals("2") && !version.equals("3")) {
      error("NOPROTO unsupported protocol version");
      return;
    }
    for (int i = 1; i < words.size(); i++) {
      if (word(words.get(i)).equals("AUTH") && i + 2 < words.size()) {
        if (!admit(words.get(i + 2))) {
          refuse();
          return;
        }
        i += 2;
      }
    }
    if (!known) {
      error("NOAUTH HELLO must be called with the client already authenticated");
      return;
    }
    third = version.equals("3");
    put(ascii(third ? "%5\r\n" : "*10\r\n"));
    bulk(ascii("server"));
    bulk(ascii("kvasir"));
    bulk(ascii("version"));
    bulk(ascii("7.0.0"));
    bulk(ascii("proto"));
    number(third ? 3 : 2);
    bulk(ascii("mode"));
    bulk(ascii("standalone"));
    bulk(ascii("role"));
    bulk(ascii("master"));
  }

  /** The value is read from the socket right into host memory. */
  private void set(int left) throws IOException {
    var key = reader.string(KEY_BYTES_MAX);
    long length = reader.length(Long.MAX_VALUE);
    var room = length > valueBytesMax ? null : values.room(key, length);
    try {
      if (room == null) {
        reader.skip(length);
      } else {
        for (int i = 0; i < room.blocks().size(); i++) {
          reader.fill(values.part(room.blocks().get(i).id(), i, length));
        }
      }
      reader.end();
      for (int i = 2; i < left; i++) reader.string(KEY_BYTES_MAX); // Times to live are not kept.
    } catch (IOException e) {
      if (room != null) values.abort(room);
      throw e;
    }
    if (room == null) {
      error(
          length > valueBytesMax
              ? "ERR a value of " + length + " bytes, at most " + valueBytesMax
              : "OOM no room for the value just now");
      return;
    }
    values.commit(room);
    put(OK);
  }

  private void get(byte[] key) throws IOException {
    var held = values.find(key);
    if (held == null) {
      put(ascii(third ? "_\r\n" : "$-1\r\n"));
      return;
    }
    try {
      put(ascii("$" + held.length() + "\r\n"));
      for (int i = 0; i < held.blocks().size(); i++) {
        write(values.part(held.blocks().get(i).id(), i, held.length()));
      }
      put(ascii("\r\n"));
    } finally {
      values.release(key, held);
    }
  }

  private void number(long value) throws IOException {
    put(ascii(":" + value + "\r\n"));
  }

  private void bulk(byte[] bytes) throws IOException {
    put(ascii("$" + bytes.length + "\r\n"));
    put(bytes);
    put(ascii("\r\n"));
  }

  private void error(String text) throws IOException {
    put(("-" + text + "\r\n").getBytes(UTF_8));
  }

  private static byte[] ascii(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private void put(byte[] bytes) throws IOException {
    write(ByteBuffer.wrap(bytes));
  }

  /** Small pieces are gathered; a large one goes out as it is. */
  private void write(ByteBuffer bytes) throws IOException {
    if (bytes.remaining() > out.remaining()) flush();
    if (bytes.remaining() <= out.remaining()) {
      out.put(bytes);
      return;
    }
    while (bytes.hasRemaining()) {
      var _ = socket.write(bytes);
    }
  }

  private void flush() throws IOException {
    out.flip();
    while (out.hasRemaining()) {
      var _ = socket.write(out);
    }
    out.clear();
  }
}
