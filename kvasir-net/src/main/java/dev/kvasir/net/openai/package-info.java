/**
 * Parts of the OpenAI API that servers and clients share: names of models and sessions, the events
 * of a stream, and what a stream says of its answer.
 */
package dev.kvasir.net.openai;
