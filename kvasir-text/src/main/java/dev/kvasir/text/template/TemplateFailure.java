package dev.kvasir.text.template;

/** A template that cannot be read, or that cannot be rendered for a prompt. */
public final class TemplateFailure extends Exception {
  private static final long serialVersionUID = 1;

  public TemplateFailure(String message) {
    super(message);
  }
}
