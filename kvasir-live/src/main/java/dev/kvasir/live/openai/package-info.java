/**
 * The OpenAI interface as bytes: requests in, answers and streams out, and what a stream says of
 * its answer.
 *
 * <p>{@link dev.kvasir.live.openai.CallReader} reads requests for embedded engines, {@link
 * dev.kvasir.live.openai.AnswerFormat} writes their answers, and {@link
 * dev.kvasir.live.openai.EventSplitter} reads the streams of workers. Unknown fields are ignored;
 * fields of the wrong kind are refused.
 */
package dev.kvasir.live.openai;
