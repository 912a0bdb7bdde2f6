/** Looks into what a tier daemon left on disk, while none has it open. */
package dev.kvasir.tierd.offline;
