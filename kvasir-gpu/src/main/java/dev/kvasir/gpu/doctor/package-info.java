/** What {@code kvasir doctor} says about the GPUs of this machine. */
package dev.kvasir.gpu.doctor;
