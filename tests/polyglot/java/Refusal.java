package example;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * A request that was refused: nothing was accepted.
 *
 * @param code the one of gRPC
 * @param message for people
 * @param reason stable, and explained in docs/errors.md; empty when the answer did not come from Toolplane
 * @param retry whether to try again: {@code never}, {@code after_change}, and so on
 * @param retryAfter how long to wait before that; zero when nothing is said
 * @param fields the rule that each wrong field broke
 */
record Refusal(
    Status.Code code, String message, String reason, String retry, Duration retryAfter, Map<String, String> fields) {
  private static final String DOMAIN = "toolplane.dev";

  /** What the details of an RPC error say. */
  static Refusal of(StatusRuntimeException error) {
    String reason = "";
    String retry = "";
    Duration retryAfter = Duration.ZERO;
    Map<String, String> fields = new TreeMap<>();
    try {
      for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
        if (detail.is(ErrorInfo.class)) {
          ErrorInfo info = detail.unpack(ErrorInfo.class);
          if (info.getDomain().equals(DOMAIN)) {
            reason = info.getReason();
            retry = info.getMetadataOrDefault("retry", "");
          }
        } else if (detail.is(RetryInfo.class)) {
          var delay = detail.unpack(RetryInfo.class).getRetryDelay();
          retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
        } else if (detail.is(BadRequest.class)) {
          for (var violation : detail.unpack(BadRequest.class).getFieldViolationsList()) {
            fields.put(violation.getField(), violation.getDescription());
          }
        }
      }
    } catch (InvalidProtocolBufferException unreadable) {
      throw new IllegalStateException("the details of an error cannot be read", unreadable);
    }
    Status status = error.getStatus();
    return new Refusal(status.getCode(), status.getDescription(), reason, retry, retryAfter, fields);
  }

  /** Whether it was refused with this code and this reason. */
  boolean is(Status.Code code, String reason) {
    return this.code == code && this.reason.equals(reason);
  }
}
