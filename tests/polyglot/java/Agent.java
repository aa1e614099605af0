package example;

import com.google.gson.JsonObject;
import io.grpc.Channel;
import io.grpc.Deadline;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import toolplane.v1.ApprovalOuterClass.Approval;
import toolplane.v1.DeferredTool.DeferredToolRef;
import toolplane.v1.EventOuterClass.Event;
import toolplane.v1.InvocationServiceGrpc;
import toolplane.v1.InvocationServiceGrpc.InvocationServiceBlockingStub;
import toolplane.v1.InvocationServiceOuterClass.CallRequest;
import toolplane.v1.InvocationServiceOuterClass.CallResponse;
import toolplane.v1.InvocationServiceOuterClass.InvocationSpec;
import toolplane.v1.InvocationServiceOuterClass.InvokeRequest;
import toolplane.v1.InvocationServiceOuterClass.InvokeResponse;
import toolplane.v1.InvocationServiceOuterClass.WaitInvocationRequest;
import toolplane.v1.InvocationServiceOuterClass.WaitInvocationResponse;
import toolplane.v1.PermissionServiceGrpc;
import toolplane.v1.PermissionServiceGrpc.PermissionServiceBlockingStub;
import toolplane.v1.PermissionServiceOuterClass.ListApprovalsRequest;
import toolplane.v1.PermissionServiceOuterClass.ListApprovalsResponse;
import toolplane.v1.PermissionServiceOuterClass.ResolveApprovalRequest;
import toolplane.v1.Registration.ToolRegistration;
import toolplane.v1.Result.ToolResult;
import toolplane.v1.Surface.ToolSurface;
import toolplane.v1.SurfaceServiceGrpc;
import toolplane.v1.SurfaceServiceGrpc.SurfaceServiceBlockingStub;
import toolplane.v1.SurfaceServiceOuterClass.GetSurfaceRequest;
import toolplane.v1.SurfaceServiceOuterClass.ListToolsRequest;
import toolplane.v1.SurfaceServiceOuterClass.ListToolsResponse;
import toolplane.v1.SurfaceServiceOuterClass.LoadOutcome;
import toolplane.v1.SurfaceServiceOuterClass.LoadToolsRequest;
import toolplane.v1.SurfaceServiceOuterClass.LoadedSchema;
import toolplane.v1.SurfaceServiceOuterClass.RegisterToolsRequest;
import toolplane.v1.SurfaceServiceOuterClass.SearchToolsRequest;
import toolplane.v1.Vocabulary.ApprovalState;
import toolplane.v1.Vocabulary.PermissionOption;

/**
 * Finds and calls tools. No method names a surface: the tenant's default one is meant. What a server refuses is thrown
 * as {@code StatusRuntimeException}; {@link Refusal} reads it.
 */
final class Agent {
  private final String name;
  private final SurfaceServiceBlockingStub surfaces;
  private final InvocationServiceBlockingStub invocations;
  private final PermissionServiceBlockingStub permissions;

  /** An agent that calls over a channel under a name, and has a minute for all it does. */
  Agent(Channel channel, String name) {
    Deadline deadline = Deadline.after(60, TimeUnit.SECONDS);
    this.name = name;
    surfaces = SurfaceServiceGrpc.newBlockingStub(channel).withDeadline(deadline);
    invocations = InvocationServiceGrpc.newBlockingStub(channel).withDeadline(deadline);
    permissions = PermissionServiceGrpc.newBlockingStub(channel).withDeadline(deadline);
  }

  /** What calls are made, followed and read with. */
  InvocationServiceBlockingStub invocations() {
    return invocations;
  }

  /** Registers a tool and answers with the digest of what is registered. */
  String declare(ToolRegistration tool) {
    return surfaces.registerTools(RegisterToolsRequest.newBuilder().addTools(tool).build()).getTools(0).getDigest();
  }

  /** The digest of every tool of the tenant, by name. Small pages are asked for, to show how. */
  Map<String, String> list() {
    Map<String, String> tools = new TreeMap<>();
    ListToolsRequest.Builder request = ListToolsRequest.newBuilder().setPageSize(4);
    ListToolsResponse page;
    do {
      page = surfaces.listTools(request.build());
      page.getToolsList().forEach(tool -> tools.put(tool.getFullName(), tool.getDigest()));
      request.setPageToken(page.getNextPageToken());
    } while (!page.getNextPageToken().isEmpty());
    return tools;
  }

  /** The surface that is meant where none is named. */
  ToolSurface defaultSurface() {
    return surfaces.getSurface(GetSurfaceRequest.getDefaultInstance()).getSurface();
  }

  /** The names of the tools that a text finds, best first. */
  List<String> search(String query) {
    var found = surfaces.searchTools(SearchToolsRequest.newBuilder().setQuery(query).build()).getResult();
    return found.getRefsList().stream().map(DeferredToolRef::getName).toList();
  }

  /** What a model needs to call a tool. */
  LoadedSchema load(String tool) {
    LoadOutcome outcome = surfaces.loadTools(LoadToolsRequest.newBuilder().addNames(tool).build()).getOutcomes(0);
    if (!outcome.hasLoaded()) {
      throw new IllegalStateException(tool + " cannot be called: " + outcome.getFailure());
    }
    return outcome.getLoaded();
  }

  /** A call to be made. */
  InvocationSpec.Builder spec(String tool, Map<String, ?> arguments) {
    return InvocationSpec.newBuilder().setToolName(tool).setModelInput(Json.of(arguments)).setActorRef(name);
  }

  /** Makes a call and answers when it has ended, or after 30 seconds when it has not. */
  CallResponse ask(InvocationSpec.Builder spec) {
    return invocations.call(CallRequest.newBuilder().setSpec(spec).build());
  }

  /** Makes a call and answers with its one result, be it a success or not, however long that takes. */
  ToolResult call(InvocationSpec.Builder spec) {
    CallResponse answer = ask(spec);
    if (answer.hasResult()) {
      return answer.getResult();
    }
    String id = answer.getAccepted().getInvocationId();
    WaitInvocationResponse waited;
    do {
      waited = invocations.waitInvocation(WaitInvocationRequest.newBuilder().setInvocationId(id).build());
    } while (!waited.getDone());
    return waited.getResult();
  }

  /**
   * Makes a call over a stream and approves it where that is asked.
   *
   * @param onProgress is given the standard's progress record each time, while the call runs
   */
  Followed follow(InvocationSpec.Builder spec, Consumer<JsonObject> onProgress) {
    List<Event> events = new ArrayList<>();
    ToolResult result = null;
    Iterator<InvokeResponse> stream = invocations.invoke(InvokeRequest.newBuilder().setSpec(spec).build());
    while (stream.hasNext()) {
      InvokeResponse message = stream.next();
      for (Event event : message.getEventsList()) {
        events.add(event);
        if (event.getSequence() != events.size()) {
          throw new IllegalStateException("event " + events.size() + " is left out: " + event);
        }
        handle(event, onProgress);
      }
      if (message.hasResult()) {
        result = message.getResult();
      }
    }
    if (result == null) {
      throw new IllegalStateException("the stream ended without a result");
    }
    return new Followed(events, result);
  }

  private void handle(Event event, Consumer<JsonObject> onProgress) {
    switch (event.getEventClass()) {
      case EVENT_CLASS_EXT_INVOCATION_AWAITING_APPROVAL -> approve(event.getInvocationId());
      case EVENT_CLASS_TOOL_INVOCATION_PROGRESS -> onProgress.accept(Json.read(event.getData()));
      default -> {} // also what is newer than this program
    }
  }

  /** Answers the question about a call like a person who lets it run once. */
  private void approve(String invocation) {
    var request = ListApprovalsRequest.newBuilder().setState(ApprovalState.APPROVAL_STATE_PENDING);
    ListApprovalsResponse page;
    do {
      page = permissions.listApprovals(request.build());
      for (Approval approval : page.getApprovalsList()) {
        if (approval.getInvocationId().equals(invocation)) {
          resolve(approval);
          return;
        }
      }
      request.setPageToken(page.getNextPageToken());
    } while (!page.getNextPageToken().isEmpty());
    throw new IllegalStateException("nobody is asked about " + invocation);
  }

  /** Shows what is asked, and gives the answer. */
  private void resolve(Approval approval) {
    Approval answered =
        permissions
            .resolveApproval(
                ResolveApprovalRequest.newBuilder()
                    .setApprovalId(approval.getApprovalId())
                    .setOption(PermissionOption.PERMISSION_OPTION_ALLOW_ONCE)
                    .setFeedback("fine")
                    .setResolvedBy("java-operator")
                    .build())
            .getApproval();
    if (answered.getState() != ApprovalState.APPROVAL_STATE_APPROVED) {
      throw new IllegalStateException("the approval is " + answered);
    }
    Main.say("approved", approval.getToolName(), approval.getPermissionInput().getInline().toStringUtf8());
  }
}
