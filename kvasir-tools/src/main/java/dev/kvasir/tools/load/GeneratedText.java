package dev.kvasir.tools.load;

import java.util.function.LongSupplier;

/**
 * Makes text from numbers, a word for each, so that equal numbers make equal text. The words are so
 * common that most tokenizers have one token for each.
 */
public final class GeneratedText {
  private static final String[] WORDS =
      ("the of and to in is that it was for on are with as at be this have from or one had by word"
              + " but not what all were we when your can said there use an each which she do how"
              + " their if will up other about out many then them these so some her would make"
              + " like him into time has look two more write go see number no way could people my"
              + " than first water been call who its now find long down day did get come made may"
              + " part over new sound take only little work know place year live me back give most"
              + " very after thing our just name good man think say great where help through much"
              + " before line right too mean")
          .split(" ");

  /** Number of different words: a power of two. */
  private static final int COUNT = 128;

  private GeneratedText() {}

  /** So many words, each chosen by the next number. */
  public static String of(LongSupplier numbers, int count) {
    var text = new StringBuilder(count * 5);
    for (int i = 0; i < count; i++) {
      if (i > 0) text.append(' ');
      text.append(WORDS[(int) (numbers.getAsLong() >>> 32) & COUNT - 1]);
    }
    return text.toString();
  }
}
