package dev.kvasir.events;

/**
 * Figures of what a subscriber has seen so far.
 *
 * @param batches batches that could be read
 * @param malformed messages that could not, and were dropped
 * @param unreadable events of the batches that could not
 * @param excesses how often the engine was disconnected, since it sent too much
 * @param unknown events of kinds that are not known here
 * @param connects how often the engine was reached
 * @param requests how often it was asked to repeat
 * @param duplicates batches that came again
 * @param gaps how often batches were missing for good
 * @param restarts how often the engine began anew
 * @param lagSeconds how old the last batch was when it was taken in, by the engine's clock; below
 *     zero before the first
 */
public record SubscriberStats(
    long batches,
    long malformed,
    long unreadable,
    long excesses,
    long unknown,
    long connects,
    long requests,
    long duplicates,
    long gaps,
    long restarts,
    double lagSeconds) {}
