/**
 * A client of HTTP/1.1 for servers that are trusted little: a strict and bounded reader of answers,
 * on the sockets of Vert.x, with kept connections for each event loop.
 */
package dev.kvasir.net.client;
