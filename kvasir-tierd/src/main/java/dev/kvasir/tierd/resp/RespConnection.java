package dev.kvasir.tierd.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kvasir.Nullable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/** One client of the Redis protocol, on a thread of its own. */
final class RespConnection {
  private static final int ARGUMENTS_MAX = 1_024;
  private static final int KEY_BYTES_MAX = 64 << 10;

  /** Of the words of one command, each with what an object takes. */
  private static final int COMMAND_BYTES_MAX = 1 << 20;

  private static final int WORD_BYTES = 64;

  /** Of who has not said the password yet, as in Redis. */
  private static final int STRANGERS_ARGUMENTS_MAX = 10;

  private static final int STRANGERS_BYTES_MAX = 16 << 10;
  private static final int PART_BYTES = 256 << 10;
  private static final byte[] OK = ascii("+OK\r\n");

  private final StoredValues values;
  private final byte @Nullable [] password;
  private final long valueBytesMax;
  private final SocketChannel socket;
  private final RespReader reader;
  private final RespServer.Counts counts;
  private final ByteBuffer out = ByteBuffer.allocateDirect(64 << 10);
  private final RespBudget budget;
  private final RespProgress progress;

  /** The part of the budget that the words of the present command take. */
  private long commandBytes;

  private boolean known;
  private boolean third;

  RespConnection(
      StoredValues values,
      byte @Nullable [] password,
      long valueBytesMax,
      SocketChannel socket,
      RespBudget budget,
      RespServer.Counts counts) {
    this.values = values;
    this.password = password;
    this.valueBytesMax = valueBytesMax;
    this.socket = socket;
    this.reader = new RespReader(new Incoming());
    this.budget = budget;
    this.counts = counts;
    this.known = password == null;
    long now = System.nanoTime();
    this.progress = known ? RespProgress.ofKnown(now) : RespProgress.ofStranger(now);
  }

  RespProgress progress() {
    return progress;
  }

  /** Ends clients that do not get on, from another thread. */
  void end() throws IOException {
    counts.slow.increment();
    socket.close();
  }

  /** The bytes that the client sends. */
  private final class Incoming implements ReadableByteChannel {
    @Override
    public int read(ByteBuffer into) throws IOException {
      int read = socket.read(into);
      progress.moved(read, System.nanoTime());
      return read;
    }

    @Override
    public boolean isOpen() {
      return socket.isOpen();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  void serve() throws IOException {
    try {
      while (true) {
        progress.idle(System.nanoTime());
        reader.await();
        progress.moving(System.nanoTime());
        int count = reader.begin(known ? ARGUMENTS_MAX : STRANGERS_ARGUMENTS_MAX);
        if (count == 0) continue;
        try {
          command(word(string()), count - 1);
          flush();
        } finally {
          budget.give(commandBytes);
          commandBytes = 0;
        }
      }
    } catch (RespReader.Malformed e) {
      error("ERR Protocol error: " + e.getMessage());
      flush();
    } catch (EOFException e) {
      // The client has left.
    }
  }

  /** The next word of a command, if there is room for it among those of all commands. */
  private byte[] string() throws IOException {
    long length = reader.length(known ? KEY_BYTES_MAX : STRANGERS_BYTES_MAX);
    long bytes = length + WORD_BYTES;
    if (commandBytes + bytes > COMMAND_BYTES_MAX) {
      throw new RespReader.Malformed("too big command, at most " + COMMAND_BYTES_MAX + " bytes");
    }
    if (!budget.reserve(bytes)) throw new RespReader.Malformed("too many commands just now");
    commandBytes += bytes;
    return reader.string(length);
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
      else more.add(string());
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
    reader.skip(reader.length(known ? valueBytesMax : STRANGERS_BYTES_MAX));
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
      case "EXISTS" -> number(served(() -> more.stream().filter(values::exists).count()));
      case "DEL", "UNLINK" -> number(served(() -> more.stream().filter(values::remove).count()));
      case "SET" -> error("ERR wrong number of arguments for 'set' command");
      default -> error("ERR unknown command '" + printable(name) + "'");
    }
  }

  /** Asks the tiers, while the client waits. */
  private long served(LongSupplier request) {
    progress.served(System.nanoTime());
    long answer = request.getAsLong();
    progress.moving(System.nanoTime());
    return answer;
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

  private boolean admit(byte[] candidate) {
    known = password == null || MessageDigest.isEqual(password, candidate);
    if (known) progress.admitted(System.nanoTime());
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
    var key = string();
    long length = reader.length(Long.MAX_VALUE);
    progress.served(System.nanoTime());
    var room = length > valueBytesMax ? null : values.room(key, length);
    progress.moving(System.nanoTime());
    try {
      if (room == null) {
        reader.skip(length);
      } else {
        for (int i = 0; i < room.blocks().size(); i++) {
          reader.fill(values.part(room.blocks().get(i).id(), i, length));
        }
      }
      reader.end();
      for (int i = 2; i < left; i++) string(); // Times to live are not kept.
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
    progress.served(System.nanoTime());
    var held = values.find(key);
    progress.moving(System.nanoTime());
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
    send(bytes);
  }

  private void send(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      // A part at a time, so that it can be seen how much has gone.
      var part = bytes.slice(bytes.position(), Math.min(bytes.remaining(), PART_BYTES));
      int sent = socket.write(part);
      bytes.position(bytes.position() + sent);
      progress.moved(sent, System.nanoTime());
    }
  }

  private void flush() throws IOException {
    out.flip();
    send(out);
    out.clear();
  }
}
