/**
 * The tokens of requests, made here from the files of a model and not by asking a worker.
 *
 * <pre>
 *   unchecked → checking → fits: prompts are tokenised here
 *                        → differs: workers are asked, as without files
 * </pre>
 */
package dev.kvasir.gateway.prompt;
