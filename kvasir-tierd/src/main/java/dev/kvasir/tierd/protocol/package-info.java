/** The protocol between an engine and the daemon over a Unix socket. */
package dev.kvasir.tierd.protocol;
