/** The checks of {@code kvasir doctor} for the GPUs of this machine. */
package dev.kvasir.gpu.doctor;
