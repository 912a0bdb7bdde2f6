package dev.kvasir.offload.onboard;

/**
 * The loads that are under way, and counts of those that were declined or timed out.
 *
 * @param searches searches that have blocks on their way
 * @param searchesMax the most there may be of them
 * @param onboarding blocks on their way
 * @param overdue those whose store has not answered in time; no request waits for them
 * @param searchesDeclined searches that got only what was at the top, since too many waited
 * @param loadsTimedOut loads that were not answered in time
 */
public record OnboardingLoad(
    int searches,
    int searchesMax,
    int onboarding,
    int overdue,
    long searchesDeclined,
    long loadsTimedOut) {}
