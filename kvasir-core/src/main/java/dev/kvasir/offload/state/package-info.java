/** State of tiers, of the pipelines between them, and of what is on its way up. */
package dev.kvasir.offload.state;
