package dev.kvasir.kv.evict;

/**
 * What a policy that learns knows and has done.
 *
 * @param classes how many classes of requests its tables have
 * @param segments how many groups of blocks it knows
 * @param remembered how many blocks it remembers that are not here
 * @param gained about how many more blocks were found than LRU would have found
 * @param fallbacks how often it fell back to the oldest first, since the tables were worse
 * @param isFallback whether it does so now
 * @param hintsIgnored hints of tenants beyond those that are distinguished
 * @param bytes how much memory it takes
 * @param agedMost how many groups of blocks have grown older with one request, at most
 * @param restoresRefused how often what was saved could not be read
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
