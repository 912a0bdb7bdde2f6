/**
 * Real time: the loop on which core's objects run in a server, and what all servers share.
 *
 * <p>{@link dev.kvasir.net.LiveLoop} implements {@link dev.kvasir.time.EventLoop} with one thread
 * and the monotonic clock. An exception of a task is logged and the loop continues. The packages
 * below hold everything that needs threads, sockets or files.
 */
package dev.kvasir.net;
