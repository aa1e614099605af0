// An agent in Go: declares a tool, lists and searches, calls with and without a stream, has calls approved, fetches a
// large result, and reads what a refusal says.
//
// Usage: agent HOST:PORT. It makes no surface: calls that name none are made in the tenant's default one, which has
// every tool as it is declared now.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"

	pb "example.org/toolplane/v1"
)

// patience bounds everything the agent does.
const patience = 60 * time.Second

// shell is the name of the example tool that runs commands. No rule allows commands, so a person is asked about each.
const shell = "local.shell.exec"

// keyOfTwice is the idempotency key of the call that is made twice.
const keyOfTwice = "go-agent-twice"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: agent HOST:PORT")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, endpoint string) error {
	conn, err := grpc.NewClient(endpoint, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	agent := NewAgent(conn, "go-agent")
	if err := find(ctx, agent); err != nil {
		return err
	}
	if err := use(ctx, agent); err != nil {
		return err
	}
	if err := beRefused(ctx, agent); err != nil {
		return err
	}
	say("done")
	return nil
}

// find declares a tool and finds it again in every way there is.
func find(ctx context.Context, agent *Agent) error {
	digest, err := agent.Declare(ctx, digestTool())
	if err != nil {
		return err
	}
	say("declared", digestName, digest)
	tools, err := agent.List(ctx)
	if err != nil {
		return err
	}
	if tools[digestName] != digest || tools[shell] == "" {
		return fmt.Errorf("not all tools are listed: %v", tools)
	}
	say("listed", len(tools), "tools")
	surface, err := agent.DefaultSurface(ctx)
	if err != nil {
		return err
	}
	say("surface", surface.GetSurfaceId(), surface.GetCounts().GetLoaded(), "loaded")
	if err := agent.Search(ctx, "go digest of a file", digestName); err != nil {
		return err
	}
	say("searched", digestName)
	schema, err := agent.Load(ctx, digestName, digest)
	if err != nil {
		return err
	}
	say("loaded", digestName, schema)
	return nil
}

// use makes calls: one that is watched and approved, short ones, and one twice.
func use(ctx context.Context, agent *Agent) error {
	var lines strings.Builder
	for n := 1; n <= 30_000; n++ {
		fmt.Fprintf(&lines, "line %d\n", n)
	}
	call, err := watched(ctx, agent)
	if err != nil {
		return err
	}
	if err := failure(call.Result); err != nil {
		return err
	}
	say("invoked", shell, call.Result.GetStatus(), call.Result.GetUiFacingSummary())
	kept, err := agent.Fetch(ctx, call.Result)
	if err != nil {
		return err
	}
	if string(kept) != lines.String() {
		return fmt.Errorf("%d bytes were kept instead of %d", len(kept), lines.Len())
	}
	say("fetched", len(kept), "bytes")
	again, err := agent.Replay(ctx, call)
	if err != nil {
		return err
	}
	say("replayed", again, "events")

	result, err := agent.Call(ctx, agent.Spec(digestName, map[string]any{"path": "made/go.txt"}))
	if err != nil {
		return err
	}
	if sum := sha256Hex(kept); !strings.Contains(text(result), sum) {
		return fmt.Errorf("`%s` is not in %q", sum, text(result))
	}
	say("called", digestName, result.GetStatus())
	return twice(ctx, agent)
}

// watched runs a command that does not end before its progress has been seen: it waits for a file that is written only
// then.
func watched(ctx context.Context, agent *Agent) (*Followed, error) {
	command := "mkdir -p made && for n in $(seq 1 30000); do echo line $n; done | tee made/go.txt; " +
		"until [ -e made/go.seen ]; do sleep 0.1; done"
	seen := false
	onProgress := func(progress Progress) error {
		if seen || progress.BytesWritten == 0 {
			return nil
		}
		seen = true
		say("progress", progress.BytesWritten, "bytes written")
		// Another call beside the one that is watched. It is asked about, too.
		arguments := map[string]any{"path": "made/go.seen", "content": "seen\n"}
		written, err := agent.Follow(ctx, agent.Spec("files.write_file", arguments), nil)
		if err != nil {
			return err
		}
		return failure(written.Result)
	}
	call, err := agent.Follow(ctx, agent.Spec(shell, map[string]any{"command": command}), onProgress)
	if err != nil {
		return nil, err
	}
	if !seen {
		return nil, errors.New("the command ended before it told any progress")
	}
	return call, nil
}

// twice makes the same call with the same key: it is accepted once, and both are answered with its one result.
func twice(ctx context.Context, agent *Agent) error {
	spec := agent.Spec(digestName, map[string]any{"path": "made/go.txt"})
	spec.IdempotencyKey = keyOfTwice
	first, err := agent.Ask(ctx, spec)
	if err != nil {
		return err
	}
	second, err := agent.Ask(ctx, spec)
	if err != nil {
		return err
	}
	if first.GetAccepted().GetDuplicate() || !second.GetAccepted().GetDuplicate() {
		return fmt.Errorf("accepted as %v, then as %v", first.GetAccepted(), second.GetAccepted())
	}
	if first.GetResult().GetResultId() == "" || first.GetResult().GetResultId() != second.GetResult().GetResultId() {
		return fmt.Errorf("the results are %q and %q", first.GetResult().GetSummary(), second.GetResult().GetSummary())
	}
	say("repeated", second.GetAccepted().GetInvocationId())
	return nil
}

// beRefused makes wrong requests. What is wrong with a request is an error of the RPC, and nothing was accepted; what
// is wrong with the arguments of a call is its result.
func beRefused(ctx context.Context, agent *Agent) error {
	doubled := agent.Spec(digestName, nil)
	doubled.ModelInput = &pb.JsonPayload{Body: &pb.JsonPayload_Inline{Inline: []byte(`{"path":"a","path":"b"}`)}}
	_, err := agent.Ask(ctx, doubled)
	if err := expect(err, codes.InvalidArgument, "INVALID_ARGUMENT", "spec.model_input"); err != nil {
		return err
	}
	other := agent.Spec(digestName, map[string]any{"path": "made/go.seen"})
	other.IdempotencyKey = keyOfTwice
	_, err = agent.Ask(ctx, other)
	if err := expect(err, codes.AlreadyExists, "IDEMPOTENCY_MISMATCH", ""); err != nil {
		return err
	}
	result, err := agent.Call(ctx, agent.Spec(digestName, map[string]any{"path": 7}))
	if err != nil {
		return err
	}
	why := result.GetError()
	if why.GetErrorCode() != "input.schema_violation" || why.GetFieldViolations()[0].GetField() != "/path" {
		return fmt.Errorf("a number as path ends as %s: %s", result.GetStatus(), result.GetSummary())
	}
	say("failed", why.GetErrorCode(), why.GetRecoverability(), why.GetFieldViolations()[0])
	return nil
}

// expect fails unless an RPC was refused with this code and reason, about this field when one is given.
func expect(err error, code codes.Code, reason, field string) error {
	refused, ok := refusalOf(err)
	if !ok {
		return fmt.Errorf("a wrong request is answered with %v", err)
	}
	_, told := refused.Fields[field]
	if refused.Code != code || refused.Reason != reason || (field != "" && !told) {
		return fmt.Errorf("a wrong request is refused with %v", refused)
	}
	say("refused", refused)
	return nil
}

// failure is the error a result tells; nil when it is a success.
func failure(result *pb.ToolResult) error {
	if result.GetIsError() {
		return fmt.Errorf("%s: %s", result.GetError().GetErrorCode(), result.GetError().GetMessage())
	}
	return nil
}

func say(step string, what ...any) {
	fmt.Println(append([]any{step}, what...)...)
}
