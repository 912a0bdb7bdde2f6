/**
 * The part of ZeroMQ's protocol that a subscriber needs: ZMTP 3.0 over TCP, without security, as a
 * SUB or as a DEALER.
 *
 * <pre>
 *   ZmtpSocket       a thread that connects as often as it must, or accepts peers
 *       |
 *   ZmtpConnection   one connection: greeting, READY, messages, PING and PONG
 *     |       |
 *   FrameReader  Outbox     bounded before anything is allocated; never waits for the peer
 * </pre>
 *
 * <p>Threads block in sockets of their own, and nothing is shared between engines. Where messages
 * are not taken, nothing is read, so the peer's own queue fills.
 */
package dev.kvasir.events.zmtp;
