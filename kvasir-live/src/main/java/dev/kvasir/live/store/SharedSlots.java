package dev.kvasir.live.store;

import dev.kvasir.kv.BlockHash;
import dev.kvasir.kv.TokenBlock;
import dev.kvasir.live.store.BlockSeals.Opened;
import dev.kvasir.live.store.BlockTransport.Fetched;
import dev.kvasir.live.store.BlockTransport.Parcel;
import dev.kvasir.live.store.BlockTransport.Sent;
import dev.kvasir.live.store.BlockTransport.Write;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The slots of a shared tier as another one below it sees them: a block at a time, by its name.
 *
 * <p>What is read was checked, and what is written is sealed, as by the store itself.
 */
final class SharedSlots implements SlotsAbove {
  private final BlockSeals seals;
  private final BlockTransport transport;
  private final Watchdog watchdog;
  private final Duration timeout;

  SharedSlots(BlockSeals seals, BlockTransport transport, Watchdog watchdog, Duration timeout) {
    this.seals = seals;
    this.transport = transport;
    this.watchdog = watchdog;
    this.timeout = timeout;
  }

  @Override
  public int blockBytes() {
    return seals.blockBytes();
  }

  @Override
  public int check(int slot) {
    if (slot < 0) throw new IllegalArgumentException("no slot " + slot);
    return slot;
  }

  @Override
  public void read(TokenBlock block, int slot, ByteBuffer into) throws IOException {
    var fetched = within(() -> transport.fetch(List.of(block))).get(block.hash());
    switch (fetched) {
      case null -> throw new IOException("the server did not answer for it");
      case Fetched.Absent() -> throw new IOException("the server does not have it any more");
      case Fetched.Lost(var reason) -> throw new IOException(reason);
      case Fetched.Found(var bytes) -> {
        switch (seals.open(block, bytes)) {
          case Opened.Good(var content, _) -> into.put(content);
          case Opened.Bad(var fault) -> throw new IOException("not the block: " + fault);
        }
      }
    }
  }

  @Override
  public void write(TokenBlock block, int slot, ByteBuffer from) throws IOException {
    var sealed = seals.seal(block, new Handed(from), slot);
    var parcels = List.of(new Parcel(block, sealed, Write.IF_ABSENT));
    switch (within(() -> transport.send(parcels)).get(block.hash())) {
      case null -> throw new IOException("the server did not answer for it");
      case Sent.Refused(var reason) -> throw new IOException(reason);
      case Sent.Busy(var who) -> throw new IOException("it is just being sent by " + who);
      case Sent.Written(), Sent.Present() -> {}
    }
  }

  /** One call to the server. */
  private interface Asking<T> {
    Map<BlockHash, T> ask() throws IOException;
  }

  private <T> Map<BlockHash, T> within(Asking<T> asking) throws IOException {
    try {
      return watchdog.within(timeout, asking::ask);
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Bytes that are at hand already. */
  private record Handed(ByteBuffer bytes) implements SlotsAbove {
    @Override
    public int blockBytes() {
      return bytes.remaining();
    }

    @Override
    public int check(int slot) {
      return slot;
    }

    @Override
    public void read(TokenBlock block, int slot, ByteBuffer into) {
      into.put(bytes.duplicate());
    }

    @Override
    public void write(TokenBlock block, int slot, ByteBuffer from) {
      throw new UnsupportedOperationException("only read");
    }
  }
}
