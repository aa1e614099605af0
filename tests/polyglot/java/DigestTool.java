package example;

import java.util.List;
import java.util.Map;
import toolplane.v1.Contract.InputContract;
import toolplane.v1.Declaration.ToolDeclaration;
import toolplane.v1.ExecutionProfileOuterClass.ExecutionBinding;
import toolplane.v1.ExecutionProfileOuterClass.ExecutionProfile;
import toolplane.v1.ExecutionProfileOuterClass.ProcessBinding;
import toolplane.v1.Interface.SafetyFact;
import toolplane.v1.Interface.ToolInterface;
import toolplane.v1.Registration.ToolRegistration;
import toolplane.v1.Vocabulary.ExecutionKind;
import toolplane.v1.Vocabulary.ToolKind;
import toolplane.v1.Vocabulary.ToolLifecycle;

/** The system's own {@code sha256sum} on one file of the workspace, in a sandbox that can only read. */
final class DigestTool {
  static final String NAME = "java.sha256";
  private static final String ID = "tool_java_sha256";

  private DigestTool() {}

  static ToolRegistration registration() {
    return ToolRegistration.newBuilder()
        .setDeclaration(declaration())
        .setInterface(safety())
        .setExecutionProfile(execution())
        .build();
  }

  private static ToolDeclaration.Builder declaration() {
    Map<String, ?> schema =
        Map.of(
            "type", "object",
            "properties", Map.of("path", Map.of("type", "string", "minLength", 1)),
            "required", List.of("path"),
            "additionalProperties", false);
    return ToolDeclaration.newBuilder()
        .setToolId(ID)
        .setNamespace("java")
        .setName(NAME)
        .setSearchHint("compute the digest of a file")
        .setDescription("Computes the SHA-256 of a file below the workspace.")
        .setLifecycle(ToolLifecycle.TOOL_LIFECYCLE_AVAILABLE)
        .setToolKindCode(ToolKind.TOOL_KIND_FUNCTION)
        .setInputContract(InputContract.newBuilder().setModelInputSchema(Json.of(schema)).setStrict(true));
  }

  private static ToolInterface.Builder safety() {
    return ToolInterface.newBuilder()
        .setInterfaceId("iface_java_sha256")
        .setToolId(ID)
        .setIsReadOnly(known(true))
        .setIsConcurrencySafe(known(true))
        .setIsDestructive(known(false))
        .setIsOpenWorld(known(false))
        .setIsIdempotent(known(true));
  }

  private static ExecutionProfile.Builder execution() {
    List<String> command = List.of("/usr/bin/sha256sum", "--", "{path}");
    ProcessBinding.Builder process = ProcessBinding.newBuilder().addAllArgv(command);
    return ExecutionProfile.newBuilder()
        .setExecutionProfileId("exec_java_sha256")
        .setExecutionKindCode(ExecutionKind.EXECUTION_KIND_LOCAL_PROCESS)
        .setSupportsCancel(true)
        .setSandboxed(true)
        .setSandboxProfile("workspace_read_only")
        .setTimeoutMs(20_000)
        .setBinding(ExecutionBinding.newBuilder().setProcess(process));
  }

  /** A safety fact that does not depend on the input. */
  private static SafetyFact known(boolean fact) {
    return SafetyFact.newBuilder().setKnown(fact).build();
  }
}
