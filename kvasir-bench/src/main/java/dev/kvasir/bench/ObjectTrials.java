package dev.kvasir.bench;

import dev.kvasir.Records;
import dev.kvasir.tiers.s3.ObjectBlocks;
import dev.kvasir.tiers.s3.ObjectSettings;
import dev.kvasir.tiers.shared.BlockSeals;
import dev.kvasir.tiers.shared.SealSettings;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/** The object tier with packs of several sizes, and the plain SDK, as many requests at a time. */
final class ObjectTrials {
  private static final int BLOCKS = Integer.getInteger("blocks", 512);
  private static final int REQUESTS = 16;
  private static final int USUAL = 8 << 20;

  private ObjectTrials() {}

  static List<SharedTierBench.Trial> all(
      String endpoint, String bucket, int blockBytes, SealSettings protection) {
    var trials = new ArrayList<SharedTierBench.Trial>();
    for (int packBytes : new int[] {USUAL, 1, 1 << 20, 16 << 20}) {
      var usual =
          Records.with(ObjectSettings.of(URI.create(endpoint), bucket), "packBytes", packBytes);
      var settings = usual.withClaimTtl(Duration.ofMinutes(2));
      var seals = BlockSeals.of(blockBytes, packBytes, protection);
      int blocks = Math.clamp(packBytes / blockBytes, 1, 256);
      trials.add(
          new SharedTrial(
              "object tier, packs of " + blocks,
              BLOCKS,
              blockBytes,
              (loop, above) -> ObjectBlocks.open(loop, above, settings, seals),
              () -> {}));
    }
    int packed = Math.clamp(USUAL / blockBytes, 1, 256);
    trials.add(new Plain(endpoint, bucket, blockBytes, packed));
    trials.add(new Plain(endpoint, bucket, blockBytes, 1));
    return trials;
  }

  /** Trial that uses the SDK in the obvious way: no checks, no locks. */
  private static final class Plain implements SharedTierBench.Trial {
    private final int objectBlocks;
    private final int blockBytes;
    private final String bucket;
    private final S3Client client;
    private final byte[] value;
    private int generation;

    Plain(String endpoint, String bucket, int blockBytes, int objectBlocks) {
      this.bucket = bucket;
      this.blockBytes = blockBytes;
      this.objectBlocks = objectBlocks;
      this.value = new byte[blockBytes * objectBlocks];
      this.client =
          S3Client.builder()
              .region(Region.US_EAST_1)
              .endpointOverride(URI.create(endpoint))
              .forcePathStyle(true)
              .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
              .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
              .serviceConfiguration(service -> service.chunkedEncodingEnabled(false))
              .httpClientBuilder(
                  Apache5HttpClient.builder().maxConnections(REQUESTS).expectContinueEnabled(false))
              .build();
    }

    @Override
    public String name() {
      return "plain SDK, objects of " + objectBlocks;
    }

    @Override
    public void clear() {}

    @Override
    public double store() throws IOException {
      generation++;
      return inParallel(
          name ->
              client.putObject(
                  request -> request.bucket(bucket).key(name), RequestBody.fromBytes(value)));
    }

    @Override
    public double load() throws IOException {
      return inParallel(name -> client.getObjectAsBytes(get -> get.bucket(bucket).key(name)));
    }

    private double inParallel(Step step) throws IOException {
      int objects = Math.max(1, BLOCKS / objectBlocks);
      long start = System.nanoTime();
      try (var threads = Executors.newFixedThreadPool(REQUESTS)) {
        var futures = new ArrayList<Future<?>>();
        for (int i = 0; i < objects; i++) {
          var name = "plain/" + objectBlocks + "/" + generation + "/" + i;
          futures.add(threads.submit(() -> step.run(name)));
        }
        for (var future : futures) future.get();
      } catch (InterruptedException | ExecutionException e) {
        throw new IOException(e);
      }
      return (double) objects * objectBlocks * blockBytes / (System.nanoTime() - start);
    }

    @Override
    public void close() {
      client.close();
    }

    /** Step of a trial, for the object of that name. */
    private interface Step {
      Object run(String name);
    }
  }
}
