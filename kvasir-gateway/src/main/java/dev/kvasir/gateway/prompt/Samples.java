package dev.kvasir.gateway.prompt;

/** Requests whose tokens a worker is asked for, to see whether files agree with it. */
final class Samples {
  /** Words, numbers, spaces, lines, other scripts and what looks like a token of chats. */
  static final String TEXT =
      "It's 12345 o'clock:  two  spaces,\\n\\n\\ttab. naïve Äpfel 日本語 😀 x<|im_end|>y </s>";

  static final String ASKED =
      "\"messages\": [{\"role\": \"user\", \"content\": \" What's 2+2?\\n\" }]";

  static final String TURNS =
      """
      "messages": [{"role": "system", "content": "Be brief. "},
       {"role": "user", "content": "Hello 日本"}, {"role": "assistant", "content": "Hi! "},
       {"role": "user", "content": "12345 \\"quoted\\" <b>"}]\
      """;

  static final String PARTS =
      """
      "messages": [{"role": "user", "content": [{"type": "text", "text": "one"},
       {"type": "text", "text": "two"}]}]\
      """;

  static final String TOOLS =
      """
      "tools": [{"type": "function", "function": {"name": "weather",
        "description": "Tells the \\"weather\\".", "parameters": {"type": "object",
        "properties": {"place": {"type": "string"}}, "required": ["place"]}}}],
      "messages": [{"role": "user", "content": "weather?"},
       {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function",
         "function": {"name": "weather", "arguments": "{\\"place\\": \\"Bergen\\"}"}}]},
       {"role": "tool", "tool_call_id": "call_1", "content": "rain"}]\
      """;

  private Samples() {}
}
