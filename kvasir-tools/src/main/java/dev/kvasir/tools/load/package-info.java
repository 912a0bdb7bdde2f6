/**
 * The load generator: sends requests to any OpenAI-compatible server and measures its answers.
 *
 * <pre>
 *   LoadRequests of a trace or of a seed --> LoadDriver --> OpenAiClient --> server
 *                                                |               |
 *                                            LoadTally &lt;-- Answer, Refusal
 *                                                |
 *                                            LoadReport, LoadCapture
 * </pre>
 *
 * <p>Times count from when a request was due, so a server that stalls cannot hide it. Each request
 * is counted once: as an answer or as a failure of one kind.
 */
package dev.kvasir.tools.load;
