package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	pb "example.org/toolplane/v1"
)

// Fetch reads what a result keeps by reference, in two ranges, and proves its digest.
func (a *Agent) Fetch(ctx context.Context, result *pb.ToolResult) ([]byte, error) {
	var kept *pb.PayloadRef
	for _, block := range result.GetContent() {
		if ref := block.GetPersistedOutputRef(); ref != nil {
			kept = ref
			break
		}
	}
	if kept == nil {
		return nil, fmt.Errorf("nothing is kept by reference: %s", result.GetSummary())
	}
	half := kept.GetSizeBytes() / 2
	whole := &bytes.Buffer{}
	for _, bounds := range [][2]uint64{{0, half}, {half, 0}} {
		if err := a.readRange(ctx, result.GetInvocationId(), kept.GetUri(), bounds[0], bounds[1], whole); err != nil {
			return nil, err
		}
	}
	if digest := "sha256:" + sha256Hex(whole.Bytes()); digest != kept.GetDigest() {
		return nil, fmt.Errorf("%d bytes have the digest %s and not %s", whole.Len(), digest, kept.GetDigest())
	}
	return whole.Bytes(), nil
}

// readRange appends limit bytes of a payload, from offset on; all there are when the limit is 0.
func (a *Agent) readRange(ctx context.Context, call, uri string, offset, limit uint64, whole *bytes.Buffer) error {
	stream, err := a.invocations.ReadPayload(ctx, &pb.ReadPayloadRequest{
		InvocationId: call,
		Selector:     &pb.ReadPayloadRequest_Uri{Uri: uri},
		Offset:       offset,
		Limit:        limit,
	})
	if err != nil {
		return err
	}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if part.GetOffset() != uint64(whole.Len()) {
			return fmt.Errorf("a part begins at %d after %d bytes", part.GetOffset(), whole.Len())
		}
		whole.Write(part.GetData())
	}
}

// Replay reads the events of a call that has ended once more, from the third on, and says how many there are. They and
// the result have to be the same as before.
func (a *Agent) Replay(ctx context.Context, call *Followed) (int, error) {
	const first = 3
	request := &pb.WatchInvocationRequest{InvocationId: call.Result.GetInvocationId(), FromSeq: first}
	stream, err := a.invocations.WatchInvocation(ctx, request)
	if err != nil {
		return 0, err
	}
	var result *pb.ToolResult
	expected := call.Events[first-1:]
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		for _, event := range message.GetEvents() {
			if len(expected) == 0 || event.GetEventId() != expected[0].GetEventId() {
				return 0, fmt.Errorf("`%s` was not seen at its place before", event.GetEventId())
			}
			expected = expected[1:]
		}
		result = message.GetResult()
	}
	if len(expected) > 0 || result.GetResultId() != call.Result.GetResultId() {
		return 0, fmt.Errorf("%d events less than before, and the result is `%s`", len(expected), result.GetResultId())
	}
	return len(call.Events) - first + 1, nil
}
