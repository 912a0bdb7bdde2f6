/** Redis's protocol, which LMCache and others speak, in front of the daemon's tiers. */
package dev.kvasir.tierd.resp;
