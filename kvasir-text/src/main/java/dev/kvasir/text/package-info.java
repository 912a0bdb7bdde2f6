/**
 * Tokenizers and chat templates for the gateway and the engines.
 *
 * <p>A {@link dev.kvasir.text.JsonTokenizer} is made from a model's {@code tokenizer.json}, a
 * {@link dev.kvasir.text.Tokenizer} from a {@link dev.kvasir.text.Vocabulary} that another reader
 * filled. User text never becomes a special token. Unsupported files are refused with an {@link
 * dev.kvasir.text.UnsupportedText}, never guessed.
 */
package dev.kvasir.text;
