package dev.kvasir.kv.evict.policy;

/**
 * Knowledge and counters of a policy that learns.
 *
 * @param classes number of classes of requests in its tables
 * @param segments number of groups of blocks that it knows
 * @param remembered number of blocks that it remembers and that are not here
 * @param gained approximate number of blocks found beyond those that LRU would have found
 * @param fallbacks number of times it fell back to the oldest first, since the tables were worse
 * @param isFallback true while it does so
 * @param hintsIgnored hints of tenants beyond those that are distinguished
 * @param bytes size of its memory in bytes
 * @param agedMost largest number of groups of blocks that have grown older with one request
 * @param restoresRefused number of times that what was saved could not be read
 */
public record LearnedStats(
    int classes,
    int segments,
    long remembered,
    long gained,
    long fallbacks,
    boolean isFallback,
    long hintsIgnored,
    long bytes,
    int agedMost,
    long restoresRefused) {}
