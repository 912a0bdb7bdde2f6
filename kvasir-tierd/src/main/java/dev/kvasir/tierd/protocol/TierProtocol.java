package dev.kvasir.tierd.protocol;

import java.time.Duration;

/** The numbers of docs/tier-protocol.md. */
public final class TierProtocol {
  /** "KVTP", as the first four bytes of a hello. */
  static final int MAGIC = 0x5054564b;

  static final int VERSION = 2;

  /** The bytes of a frame before its body: its length. */
  static final int HEAD_BYTES = 4;

  /** The longest frame, and the longest before the hello has been accepted. */
  public static final int FRAME_BYTES_MAX = 1 << 20;

  public static final int HELLO_BYTES_MAX = 32 << 10;

  /** As many keys fit in a frame, whatever they are for. */
  static final int KEYS_MAX = 16_384;

  /** Requests of one connection that have no answer. */
  public static final int REQUESTS_MAX = 256;

  static final int TENANT_BYTES = 16;

  public static final Duration HELLO_MAX = Duration.ofSeconds(10);

  /** Position of a chunk in its sequence if the client does not say. */
  static final int POSITION_UNKNOWN = -1;

  /** First of the types of message that a client sends. */
  static final byte HELLO = 0x01;

  static final byte LOOKUP = 0x02;
  static final byte STORE = 0x03;
  static final byte LOAD = 0x04;
  static final byte CANCEL = 0x05;
  static final byte STATS = 0x06;
  static final byte MEASURED = 0x07;
  static final byte ENDED = 0x08;
  static final byte FORGET = 0x09;

  /** In a welcome: the daemon wants to hear of requests that end. */
  public static final byte WANTS_ENDED = 1;

  /** First of the types of message that the daemon sends. */
  static final byte WELCOME = (byte) 0x81;

  static final byte FOUND = (byte) 0x82;
  static final byte DONE = (byte) 0x83;
  static final byte TOLD = (byte) 0x86;
  static final byte ERROR = (byte) 0xff;

  /** First of the answers that a look-up gives for a key. */
  public static final byte KEY_MISSING = 0;

  public static final byte KEY_THERE = 1;
  public static final byte KEY_SLOWER = 2;

  /** First of the outcomes of a chunk. */
  public static final byte CHUNK_DONE = 0;

  public static final byte CHUNK_MISSING = 1;
  public static final byte CHUNK_FAILED = 2;
  public static final byte CHUNK_DROPPED = 3;
  public static final byte CHUNK_CANCELLED = 4;

  private TierProtocol() {}
}
