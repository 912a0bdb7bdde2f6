package dev.kvasir.text;

/** One message of a conversation. */
public record ChatMessage(Role role, String content) {
  /** Speaker of a message. */
  public enum Role {
    SYSTEM("system"),
    USER("user"),
    ASSISTANT("assistant"),
    TOOL("tool");

    private final String key;

    Role(String key) {
      this.key = key;
    }

    /** Its name in templates and requests. */
    public String key() {
      return key;
    }
  }
}
