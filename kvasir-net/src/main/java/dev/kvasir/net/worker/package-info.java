/** A worker in this process, as a gateway calls it. */
package dev.kvasir.net.worker;
