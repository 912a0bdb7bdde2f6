/**
 * Tokenizers and chat templates: text to tokens and back, for the gateway and for the engines.
 *
 * <p>A {@link dev.kvasir.text.JsonTokenizer} is made from a model's {@code tokenizer.json}, a
 * {@link dev.kvasir.text.Tokenizer} from a {@link dev.kvasir.text.Vocabulary} that another reader
 * filled. Text of users never becomes a special token. What is not supported is refused with an
 * {@link dev.kvasir.text.UnsupportedText}, never guessed.
 */
package dev.kvasir.text;
