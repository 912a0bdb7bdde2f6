/** Settings of the daemon. */
package dev.kvasir.tierd.settings;
