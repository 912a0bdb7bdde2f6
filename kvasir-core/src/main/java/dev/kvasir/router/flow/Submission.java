package dev.kvasir.router.flow;

import dev.kvasir.router.view.RouteRequest;

/**
 * What is known of a request once its prompt has been read.
 *
 * @param model empty where it names none
 * @param route what the router is asked
 * @param isSplittable whether one worker can prefill it for another
 * @param isWhole whether its answer comes in one piece, so that nobody sees its first token
 */
public record Submission(String model, RouteRequest route, boolean isSplittable, boolean isWhole) {}
