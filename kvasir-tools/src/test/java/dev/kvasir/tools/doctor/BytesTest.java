package dev.kvasir.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.net.machine.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sizes as they are written in options and files. */
class BytesTest {
  @ParameterizedTest
  @CsvSource({
    "1000, 1000",
    "64KiB, 65536",
    "64K, 65536",
    "64KB, 64000",
    "1.5GiB, 1610612736",
    "2GB, 2000000000",
    "2 GB, 2000000000",
    "1TiB, 1099511627776",
    "1TB, 1000000000000"
  })
  void unitsWithAnIAreBinaryAndThoseWithABAloneAreDecimal(String text, long bytes) {
    assertThat(Bytes.parse(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "GiB", "1gib", "1Gb", "1.2.3GiB", "-1GiB", "64Gigs"})
  void whatIsNoSizeIsRefused(String text) {
    assertThatThrownBy(() -> Bytes.parse(text)).isInstanceOf(NumberFormatException.class);
  }

  @Test
  void partsOfABytesAreRefused() {
    assertThatThrownBy(() -> Bytes.parse("0.0001KiB")).isInstanceOf(ArithmeticException.class);
  }
}
