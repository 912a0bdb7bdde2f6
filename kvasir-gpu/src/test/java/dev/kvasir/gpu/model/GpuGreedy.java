package dev.kvasir.gpu.model;

import dev.kvasir.gpu.model.GpuRow.Choice;
import dev.kvasir.model.ModelShape;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Answers to prompts by a model on a GPU, all of them in each step. */
final class GpuGreedy {
  /** When the host reads the tokens of a step. */
  enum Reading {
    /** Before it launches the next: the GPU waits for the host. */
    BEFORE_NEXT,
    /** After it launched the next: the tokens never leave the GPU in between. */
    AFTER_NEXT
  }

  private final GpuModel model;
  private final GpuFeed feed;
  private final Reading reading;
  private final int chunkTokens;

  GpuGreedy(GpuModel model, Reading reading, int chunkTokens) throws IOException {
    this.model = model;
    this.feed = model.feed();
    this.reading = reading;
    this.chunkTokens = chunkTokens;
  }

  /** So many tokens for each prompt; sequences take the blocks one after the other. */
  List<int[]> answers(List<int[]> prompts, int tokens) throws IOException {
    var answers = new ArrayList<int[]>();
    var blocks = new ArrayList<int[]>();
    int block = 0;
    for (var prompt : prompts) {
      answers.add(new int[tokens]);
      var own = new int[ModelShape.blocks(prompt.length + tokens)];
      for (int i = 0; i < own.length; i++) own[i] = block++;
      blocks.add(own);
    }
    var step = prefill(prompts, blocks);
    for (int t = 1; t < tokens; t++) {
      if (reading == Reading.BEFORE_NEXT) read(step, answers, t - 1);
      var rows = new ArrayList<GpuRow>();
      for (int i = 0; i < prompts.size(); i++) {
        int token = reading == Reading.BEFORE_NEXT ? answers.get(i)[t - 1] : ~i;
        int position = prompts.get(i).length + t - 1;
        rows.add(new GpuRow(new int[] {token}, position, blocks.get(i), new Choice.Likeliest()));
      }
      var next = model.launch(rows, feed);
      if (reading == Reading.AFTER_NEXT) read(step, answers, t - 1);
      step = next;
    }
    read(step, answers, tokens - 1);
    return answers;
  }

  /** All prompts chunk by chunk; their last chunks are in one step, so that all sample together. */
  private GpuStep prefill(List<int[]> prompts, List<int[]> blocks) throws IOException {
    var last = new ArrayList<GpuRow>();
    for (int i = 0; i < prompts.size(); i++) {
      var prompt = prompts.get(i);
      int from = 0;
      for (; from + chunkTokens < prompt.length; from += chunkTokens) {
        var chunk = Arrays.copyOfRange(prompt, from, from + chunkTokens);
        var _ =
            model.launch(List.of(new GpuRow(chunk, from, blocks.get(i), new Choice.None())), feed);
      }
      var rest = Arrays.copyOfRange(prompt, from, prompt.length);
      last.add(new GpuRow(rest, from, blocks.get(i), new Choice.Likeliest()));
    }
    return model.launch(last, feed);
  }

  private static void read(GpuStep step, List<int[]> answers, int index) throws IOException {
    step.await();
    for (int i = 0; i < answers.size(); i++) answers.get(i)[index] = step.token(i);
  }
}
