package dev.kvasir.cli.workers;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A DNS server that knows the SRV records of any name, by datagrams and by TCP. */
final class NameServer implements AutoCloseable {
  private static final int SRV = 33;
  private static final int DATAGRAM_BYTES = 512;
  private static final int QUESTION_AT = 12;
  private static final int NO_SUCH_NAME = 3;

  private final DatagramSocket datagrams;
  private final ServerSocket streams;

  /** Records as {@code PORT HOST}. */
  volatile List<String> records = List.of();

  volatile boolean isMute;
  final AtomicInteger overTcp = new AtomicInteger();

  NameServer() throws IOException {
    streams = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    datagrams = new DatagramSocket(streams.getLocalPort(), InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::answerDatagrams);
    Thread.ofVirtual().start(this::answerStreams);
  }

  String address() {
    return "127.0.0.1:" + datagrams.getLocalPort();
  }

  private void answerDatagrams() {
    try {
      while (true) {
        var packet = new DatagramPacket(new byte[DATAGRAM_BYTES], DATAGRAM_BYTES);
        datagrams.receive(packet);
        if (isMute) continue;
        var question = Arrays.copyOf(packet.getData(), packet.getLength());
        var answer = answer(question, records);
        if (answer.length > DATAGRAM_BYTES) {
          answer = answer(question, List.of());
          answer[2] |= 2;
          answer[3] = 0;
        }
        datagrams.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private void answerStreams() {
    try {
      while (true) {
        try (var socket = streams.accept()) {
          overTcp.incrementAndGet();
          var in = new DataInputStream(socket.getInputStream());
          var answer = answer(in.readNBytes(in.readUnsignedShort()), records);
          var out = new DataOutputStream(socket.getOutputStream());
          out.writeShort(answer.length);
          out.write(answer);
          out.flush();
        }
      }
    } catch (IOException e) {
      // It was closed.
    }
  }

  private static byte[] answer(byte[] question, List<String> records) throws IOException {
    int end = QUESTION_AT;
    while (question[end] != 0) end += question[end] + 1;
    end += 5;
    var bytes = new ByteArrayOutputStream();
    var out = new DataOutputStream(bytes);
    out.write(question, 0, 2);
    out.writeShort(0x8580 | (records.isEmpty() ? NO_SUCH_NAME : 0));
    out.writeShort(1);
    out.writeShort(records.size());
    out.writeInt(0);
    out.write(question, QUESTION_AT, end - QUESTION_AT);
    for (var record : records) {
      var parts = record.split(" ", -1);
      out.writeShort(0xC000 | QUESTION_AT);
      out.writeShort(SRV);
      out.writeShort(1);
      out.writeInt(1);
      out.writeShort(6 + parts[1].length() + 2);
      out.writeInt(0);
      out.writeShort(Integer.parseInt(parts[0]));
      for (var label : parts[1].split("\\.", -1)) {
        out.writeByte(label.length());
        out.writeBytes(label);
      }
      out.writeByte(0);
    }
    return bytes.toByteArray();
  }

  @Override
  public void close() throws IOException {
    datagrams.close();
    streams.close();
  }
}
