/** Ownership of chunks by tenants: limits and deletion by tenant, also after a restart. */
package dev.kvasir.tierd.tenant;
