package example;

import com.google.gson.JsonObject;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import toolplane.v1.InvocationServiceOuterClass.CallResponse;
import toolplane.v1.InvocationServiceOuterClass.InvocationSpec;
import toolplane.v1.Payload.JsonPayload;
import toolplane.v1.Result.ToolResult;

/**
 * An agent in Java: declares a tool, lists and searches, calls with and without a stream, has calls approved, fetches a
 * large result, and reads what a refusal says.
 *
 * <p>Usage: {@code Main HOST:PORT}. It makes no surface: calls that name none are made in the tenant's default one,
 * which has every tool as it is declared now.
 */
public final class Main {
  /** The example tool that runs commands. No rule allows commands, so a person is asked about each. */
  private static final String SHELL = "local.shell.exec";

  /** The idempotency key of the call that is made twice. */
  private static final String KEY_OF_TWICE = "java-agent-twice";

  private final Agent agent;

  private Main(Agent agent) {
    this.agent = agent;
  }

  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length != 1) {
      System.err.println("usage: Main HOST:PORT");
      System.exit(2);
    }
    ManagedChannel channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    try {
      Main main = new Main(new Agent(channel, "java-agent"));
      main.find();
      main.use();
      main.beRefused();
      say("done");
    } finally {
      channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
    }
  }

  /** Declares a tool and finds it again in every way there is. */
  private void find() {
    String digest = agent.declare(DigestTool.registration());
    say("declared", DigestTool.NAME, digest);
    Map<String, String> tools = agent.list();
    check(digest.equals(tools.get(DigestTool.NAME)) && tools.containsKey(SHELL), "not all tools are listed", tools);
    say("listed", tools.size(), "tools");
    var surface = agent.defaultSurface();
    check(surface.getSurfaceId().equals("default"), "another surface is the default one", surface);
    say("surface", surface.getSurfaceId(), surface.getCounts().getLoaded(), "loaded");
    List<String> found = agent.search("java digest of a file");
    check(found.indexOf(DigestTool.NAME) == 0, "something else is found first", found);
    say("searched", DigestTool.NAME);
    var loaded = agent.load(DigestTool.NAME);
    check(loaded.getDigest().equals(digest), "another declaration is loaded", loaded);
    say("loaded", DigestTool.NAME, loaded.getModelInputSchema().getInline().toStringUtf8());
  }

  /** Makes calls: one that is watched and approved, a short one, and one twice. */
  private void use() {
    Followed call = watched();
    say("invoked", SHELL, call.result().getStatus(), call.result().getUiFacingSummary());
    byte[] kept = Kept.fetch(agent, call.result());
    String lines = IntStream.rangeClosed(1, 30_000).mapToObj(n -> "line " + n + "\n").collect(Collectors.joining());
    check(lines.equals(new String(kept, StandardCharsets.UTF_8)), "other bytes are kept", kept.length);
    say("fetched", kept.length, "bytes");
    say("replayed", Kept.replay(agent, call), "events");

    ToolResult result = agent.call(agent.spec(DigestTool.NAME, Map.of("path", "made/java.txt")));
    String sum = Json.hex(Json.sha256(kept));
    check(result.getContent(0).getText().getText().contains(sum), "the digest is another one", result.getSummary());
    say("called", DigestTool.NAME, result.getStatus());
    twice();
  }

  /** Runs a command that does not end before its progress has been seen: it waits for a file that is written then. */
  private Followed watched() {
    String command =
        "mkdir -p made && for n in $(seq 1 30000); do echo line $n; done | tee made/java.txt; "
            + "until [ -e made/java.seen ]; do sleep 0.1; done";
    boolean[] seen = {false};
    Followed call =
        agent.follow(
            agent.spec(SHELL, Map.of("command", command)),
            progress -> {
              if (!seen[0] && progress.has("bytes_written")) {
                seen[0] = true;
                goOn(progress);
              }
            });
    check(seen[0], "no progress was told", call.result().getSummary());
    check(!call.result().getIsError(), "the command failed", call.result().getSummary());
    return call;
  }

  /** Makes another call beside the one that is watched. It is asked about, too. */
  private void goOn(JsonObject progress) {
    say("progress", progress.get("bytes_written"), "bytes written");
    Map<String, String> file = Map.of("path", "made/java.seen", "content", "seen\n");
    ToolResult written = agent.follow(agent.spec("files.write_file", file), ignored -> {}).result();
    check(!written.getIsError(), "the file is not written", written.getSummary());
  }

  /** Makes the same call with the same key: it is accepted once, and both are answered with its one result. */
  private void twice() {
    InvocationSpec.Builder spec = agent.spec(DigestTool.NAME, Map.of("path", "made/java.txt"));
    spec.setIdempotencyKey(KEY_OF_TWICE);
    CallResponse first = agent.ask(spec);
    CallResponse second = agent.ask(spec);
    check(!first.getAccepted().getDuplicate(), "the first call is taken for a repetition", first);
    check(second.getAccepted().getDuplicate(), "the second call is not taken for a repetition", second);
    check(first.hasResult() && first.getResult().equals(second.getResult()), "the results differ", second.getAccepted());
    say("repeated", second.getAccepted().getInvocationId());
  }

  /**
   * Makes wrong requests. What is wrong with a request is an error of the RPC, and nothing was accepted; what is wrong
   * with the arguments of a call is its result.
   */
  private void beRefused() {
    JsonPayload doubled = Json.exactly("{\"path\":\"a\",\"path\":\"b\"}");
    Refusal wrong = refused(agent.spec(DigestTool.NAME, Map.of()).setModelInput(doubled));
    check(wrong.is(Status.Code.INVALID_ARGUMENT, "INVALID_ARGUMENT"), "refused otherwise", wrong);
    check(wrong.fields().containsKey("spec.model_input"), "the field is not named", wrong);

    InvocationSpec.Builder other = agent.spec(DigestTool.NAME, Map.of("path", "made/java.seen"));
    Refusal taken = refused(other.setIdempotencyKey(KEY_OF_TWICE));
    check(taken.is(Status.Code.ALREADY_EXISTS, "IDEMPOTENCY_MISMATCH"), "refused otherwise", taken);

    ToolResult result = agent.call(agent.spec(DigestTool.NAME, Map.of("path", 7)));
    var error = result.getError();
    check(error.getErrorCode().equals("input.schema_violation"), "a number as path ends so", result.getSummary());
    check(error.getFieldViolations(0).getField().equals("/path"), "the field is not named", error);
    say("failed", error.getErrorCode(), error.getRecoverability(), error.getFieldViolations(0).getDescription());
  }

  /** A call that has to be refused. */
  private Refusal refused(InvocationSpec.Builder spec) {
    CallResponse answer;
    try {
      answer = agent.ask(spec);
    } catch (StatusRuntimeException error) {
      Refusal refusal = Refusal.of(error);
      say("refused", refusal);
      return refusal;
    }
    throw new IllegalStateException("a wrong request is answered with " + answer);
  }

  private static void check(boolean holds, String otherwise, Object seen) {
    if (!holds) {
      throw new IllegalStateException(otherwise + ": " + seen);
    }
  }

  static void say(Object... words) {
    System.out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
  }
}
