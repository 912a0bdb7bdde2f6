package dev.kvasir.embedded.step;

import dev.kvasir.model.sample.TokenChoice;

/**
 * One more token of an answer.
 *
 * @param text what is certain to follow; empty while letters are incomplete or may begin a stop
 */
public record Piece(TokenChoice choice, String text) {}
