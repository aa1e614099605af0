package example;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;
import toolplane.v1.EventOuterClass.Event;
import toolplane.v1.InvocationServiceOuterClass.ReadPayloadRequest;
import toolplane.v1.InvocationServiceOuterClass.ReadPayloadResponse;
import toolplane.v1.InvocationServiceOuterClass.WatchInvocationRequest;
import toolplane.v1.InvocationServiceOuterClass.WatchInvocationResponse;
import toolplane.v1.Payload.PayloadRef;
import toolplane.v1.Result.ContentBlock;
import toolplane.v1.Result.ToolResult;

/** What a call leaves behind: large results, and its events. */
final class Kept {
  private Kept() {}

  /** Reads what a result keeps by reference, in two ranges, and proves its digest. */
  static byte[] fetch(Agent agent, ToolResult result) {
    PayloadRef kept =
        result.getContentList().stream()
            .filter(ContentBlock::hasPersistedOutputRef)
            .map(ContentBlock::getPersistedOutputRef)
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("nothing is kept by reference: " + result.getSummary()));
    var request = ReadPayloadRequest.newBuilder().setInvocationId(result.getInvocationId()).setUri(kept.getUri());
    long half = kept.getSizeBytes() / 2;
    ByteString begin = read(agent, request.setOffset(0).setLimit(half));
    // No limit: to the end.
    ByteString end = read(agent, request.setOffset(half).setLimit(0));
    byte[] whole = begin.concat(end).toByteArray();
    String digest = "sha256:" + Json.hex(Json.sha256(whole));
    if (!digest.equals(kept.getDigest())) {
      throw new IllegalStateException(whole.length + " bytes have the digest " + digest + " instead of " + kept);
    }
    return whole;
  }

  private static ByteString read(Agent agent, ReadPayloadRequest.Builder request) {
    ByteString bytes = ByteString.EMPTY;
    var stream = agent.invocations().readPayload(request.build());
    while (stream.hasNext()) {
      ReadPayloadResponse part = stream.next();
      if (part.getOffset() != request.getOffset() + bytes.size()) {
        throw new IllegalStateException("a part begins at " + part.getOffset() + " after " + bytes.size() + " bytes");
      }
      bytes = bytes.concat(part.getData());
    }
    return bytes;
  }

  /**
   * Reads the events of a call that has ended once more, from the third on, and answers how many there are. They and
   * the result have to be the same as before.
   */
  static int replay(Agent agent, Followed call) {
    var request = WatchInvocationRequest.newBuilder().setInvocationId(call.result().getInvocationId()).setFromSeq(3);
    List<Event> again = new ArrayList<>();
    ToolResult result = null;
    var stream = agent.invocations().watchInvocation(request.build());
    while (stream.hasNext()) {
      WatchInvocationResponse message = stream.next();
      again.addAll(message.getEventsList());
      result = message.getResult();
    }
    if (!again.equals(call.events().subList(2, call.events().size())) || !call.result().equals(result)) {
      throw new IllegalStateException(again.size() + " events and a result are told that were not told so before");
    }
    return again.size();
  }
}
