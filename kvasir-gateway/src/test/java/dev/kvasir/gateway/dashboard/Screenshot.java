package dev.kvasir.gateway.dashboard;

import dev.kvasir.router.view.Availability;
import java.nio.file.Path;

/** Takes the pictures of the dashboard, of a server that runs or of one made up. */
final class Screenshot {
  private Screenshot() {}

  /** Arguments: the folder for the pictures, then the server's address or nothing. */
  public static void main(String[] arguments) throws Exception {
    var program = Chromium.program().orElseThrow(() -> new IllegalStateException("no Chromium"));
    var folder = Path.of(arguments[0]);
    try (var sample = new SampleServer();
        var chromium = Chromium.start(program);
        var tab = chromium.tab()) {
      sample.show(Sample.busy(1_204, Availability.READY));
      var url = arguments.length > 1 ? arguments[1] : sample.url();
      tab.size(1280, 1050, 1.5);
      tab.go(url);
      tab.until("document.querySelector('#link')?.dataset.is === 'live'");
      enterQuestion(tab, "What is a lantern?");
      enterQuestion(tab, "And what is a river?");
      capture(tab, folder.resolve("dashboard.png"), Tab.Scheme.LIGHT);
      capture(tab, folder.resolve("dashboard-dark.png"), Tab.Scheme.DARK);
    }
  }

  private static void enterQuestion(Tab tab, String question) throws InterruptedException {
    tab.value("document.querySelector('#question').focus()");
    tab.type(question);
    tab.press("Enter", 13, 2);
    tab.until("document.querySelectorAll('[aria-busy=true]').length === 0");
  }

  private static void capture(Tab tab, Path file, Tab.Scheme scheme) throws Exception {
    tab.scheme(scheme);
    tab.value("document.activeElement.blur()");
    Thread.sleep(1_500);
    tab.picture(file);
    System.out.println(file);
  }
}
