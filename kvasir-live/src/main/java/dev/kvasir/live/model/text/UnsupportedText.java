package dev.kvasir.live.model.text;

/** A tokenizer or a template says something that is not supported here. */
public final class UnsupportedText extends Exception {
  private static final long serialVersionUID = 1;

  public UnsupportedText(String message) {
    super(message);
  }
}
