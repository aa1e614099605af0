package example;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import toolplane.v1.Payload.JsonPayload;

/** JSON values as they go over the wire: their exact bytes, and the digest of these. */
final class Json {
  /** {@code &} and {@code <} stay what they are: people read what they approve. */
  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  private Json() {}

  /** A value to send. */
  static JsonPayload of(Object something) {
    return exactly(GSON.toJson(something));
  }

  /** A value to send, as it is written. */
  static JsonPayload exactly(String text) {
    byte[] inline = text.getBytes(StandardCharsets.UTF_8);
    return JsonPayload.newBuilder()
        .setInline(ByteString.copyFrom(inline))
        .setSha256(ByteString.copyFrom(sha256(inline)))
        .setSizeBytes(inline.length)
        .build();
  }

  /** A received object. */
  static JsonObject read(JsonPayload received) {
    return GSON.fromJson(received.getInline().toStringUtf8(), JsonObject.class);
  }

  static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException error) {
      throw new AssertionError("every Java has SHA-256", error);
    }
  }

  static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
