package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	pb "example.org/toolplane/v1"
)

// Agent finds and calls tools. No method names a surface: the tenant's default one is meant.
type Agent struct {
	name        string
	surfaces    pb.SurfaceServiceClient
	invocations pb.InvocationServiceClient
	permissions pb.PermissionServiceClient
}

// NewAgent makes an agent that calls over conn under a name.
func NewAgent(conn grpc.ClientConnInterface, name string) *Agent {
	return &Agent{
		name:        name,
		surfaces:    pb.NewSurfaceServiceClient(conn),
		invocations: pb.NewInvocationServiceClient(conn),
		permissions: pb.NewPermissionServiceClient(conn),
	}
}

// Declare registers a tool and answers with the digest of what is registered.
func (a *Agent) Declare(ctx context.Context, tool *pb.ToolRegistration) (string, error) {
	answer, err := a.surfaces.RegisterTools(ctx, &pb.RegisterToolsRequest{Tools: []*pb.ToolRegistration{tool}})
	if err != nil {
		return "", err
	}
	return answer.GetTools()[0].GetDigest(), nil
}

// List answers with the digest of every tool of the tenant, by name. It asks for small pages, to show how.
func (a *Agent) List(ctx context.Context) (map[string]string, error) {
	tools := map[string]string{}
	request := &pb.ListToolsRequest{PageSize: 4}
	for {
		page, err := a.surfaces.ListTools(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, tool := range page.GetTools() {
			tools[tool.GetFullName()] = tool.GetDigest()
		}
		if page.GetNextPageToken() == "" {
			return tools, nil
		}
		request.PageToken = page.GetNextPageToken()
	}
}

// DefaultSurface reads the surface that is meant where none is named.
func (a *Agent) DefaultSurface(ctx context.Context) (*pb.ToolSurface, error) {
	answer, err := a.surfaces.GetSurface(ctx, &pb.GetSurfaceRequest{})
	return answer.GetSurface(), err
}

// Search fails unless the best match is the expected tool.
func (a *Agent) Search(ctx context.Context, query, expected string) error {
	answer, err := a.surfaces.SearchTools(ctx, &pb.SearchToolsRequest{Query: query})
	if err != nil {
		return err
	}
	found := answer.GetResult().GetRefs()
	if len(found) == 0 || found[0].GetName() != expected {
		return fmt.Errorf("%q finds %v and not `%s`", query, found, expected)
	}
	return nil
}

// Load answers with the schema of what a model may give a tool, which has to be registered under the digest.
func (a *Agent) Load(ctx context.Context, tool, digest string) (string, error) {
	answer, err := a.surfaces.LoadTools(ctx, &pb.LoadToolsRequest{Names: []string{tool}})
	if err != nil {
		return "", err
	}
	loaded := answer.GetOutcomes()[0].GetLoaded()
	if loaded.GetDigest() != digest {
		return "", fmt.Errorf("`%s` cannot be called: %v", tool, answer.GetOutcomes())
	}
	return string(loaded.GetModelInputSchema().GetInline()), nil
}

// Spec describes a call to be made.
func (a *Agent) Spec(tool string, arguments any) *pb.InvocationSpec {
	return &pb.InvocationSpec{ToolName: tool, ModelInput: value(arguments), ActorRef: a.name}
}

// Ask makes a call and answers when it has ended, or after 30 seconds when it has not.
func (a *Agent) Ask(ctx context.Context, spec *pb.InvocationSpec) (*pb.CallResponse, error) {
	return a.invocations.Call(ctx, &pb.CallRequest{Spec: spec})
}

// Call makes a call and answers with its one result, be it a success or not, however long that takes.
func (a *Agent) Call(ctx context.Context, spec *pb.InvocationSpec) (*pb.ToolResult, error) {
	answer, err := a.Ask(ctx, spec)
	if err != nil {
		return nil, err
	}
	for answer.GetResult() == nil {
		request := &pb.WaitInvocationRequest{InvocationId: answer.GetAccepted().GetInvocationId()}
		waited, err := a.invocations.WaitInvocation(ctx, request)
		if err != nil {
			return nil, err
		}
		answer.Result = waited.GetResult()
	}
	return answer.GetResult(), nil
}

// Approve answers the question about a call like a person who lets it run once.
func (a *Agent) Approve(ctx context.Context, invocation string) error {
	request := &pb.ListApprovalsRequest{State: pb.ApprovalState_APPROVAL_STATE_PENDING}
	for {
		page, err := a.permissions.ListApprovals(ctx, request)
		if err != nil {
			return err
		}
		for _, approval := range page.GetApprovals() {
			if approval.GetInvocationId() == invocation {
				return a.resolve(ctx, approval)
			}
		}
		if page.GetNextPageToken() == "" {
			return fmt.Errorf("nobody is asked about `%s`", invocation)
		}
		request.PageToken = page.GetNextPageToken()
	}
}

// resolve shows what is asked, and gives the answer.
func (a *Agent) resolve(ctx context.Context, approval *pb.Approval) error {
	answer, err := a.permissions.ResolveApproval(ctx, &pb.ResolveApprovalRequest{
		ApprovalId: approval.GetApprovalId(),
		Option:     pb.PermissionOption_PERMISSION_OPTION_ALLOW_ONCE,
		Feedback:   "fine",
		ResolvedBy: "go-operator",
	})
	if err != nil {
		return err
	}
	if state := answer.GetApproval().GetState(); state != pb.ApprovalState_APPROVAL_STATE_APPROVED {
		return fmt.Errorf("`%s` is %s", approval.GetApprovalId(), state)
	}
	say("approved", approval.GetToolName(), string(approval.GetPermissionInput().GetInline()))
	return nil
}

// Followed is a call that has ended, with all that happened.
type Followed struct {
	Events []*pb.Event
	Result *pb.ToolResult
}

// Progress is the part of the standard's progress record that this agent looks at.
type Progress struct {
	Sequence     uint64 `json:"sequence"`
	BytesWritten uint64 `json:"bytes_written"`
}

// OnProgress is told how far a call is while it runs. An error of it ends the watching, not the call.
type OnProgress func(Progress) error

// Follow makes a call over a stream and approves it where that is asked. Nobody is told of progress when onProgress is
// nil.
func (a *Agent) Follow(ctx context.Context, spec *pb.InvocationSpec, onProgress OnProgress) (*Followed, error) {
	stream, err := a.invocations.Invoke(ctx, &pb.InvokeRequest{Spec: spec})
	if err != nil {
		return nil, err
	}
	call := &Followed{}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for _, event := range message.GetEvents() {
			if event.GetSequence() != uint64(len(call.Events)+1) {
				return nil, fmt.Errorf("event %d comes after %d", event.GetSequence(), len(call.Events))
			}
			call.Events = append(call.Events, event)
			if err := a.handle(ctx, event, onProgress); err != nil {
				return nil, err
			}
		}
		call.Result = message.GetResult()
	}
	if call.Result == nil {
		return nil, errors.New("the stream ended without a result")
	}
	return call, nil
}

func (a *Agent) handle(ctx context.Context, event *pb.Event, onProgress OnProgress) error {
	switch event.GetEventClass() {
	case pb.EventClass_EVENT_CLASS_EXT_INVOCATION_AWAITING_APPROVAL:
		return a.Approve(ctx, event.GetInvocationId())
	case pb.EventClass_EVENT_CLASS_TOOL_INVOCATION_PROGRESS:
		if onProgress == nil {
			return nil
		}
		var progress Progress
		if err := read(event.GetData(), &progress); err != nil {
			return err
		}
		return onProgress(progress)
	default:
		return nil // also what is newer than this program
	}
}
