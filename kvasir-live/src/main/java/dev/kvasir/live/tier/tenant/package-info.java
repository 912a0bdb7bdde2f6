/** Whose chunks they are: limits and deletion by tenant, also after a restart. */
package dev.kvasir.live.tier.tenant;
