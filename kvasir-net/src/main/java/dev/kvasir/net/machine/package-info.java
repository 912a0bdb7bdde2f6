/** Checks of a machine and their results; sizes in bytes. */
package dev.kvasir.net.machine;
