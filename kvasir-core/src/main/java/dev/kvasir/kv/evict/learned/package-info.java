/**
 * An eviction policy that learns from earlier requests which blocks return, and when.
 *
 * <p>{@link dev.kvasir.kv.evict.learned.LearnedEviction} keeps blocks in segments with a class and
 * an age; tables of returns say what it is worth to hold a segment on. Hints of callers count as
 * far as earlier ones of the same tenant were right.
 */
package dev.kvasir.kv.evict.learned;
