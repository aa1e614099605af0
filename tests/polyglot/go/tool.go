package main

import (
	"google.golang.org/protobuf/proto"

	pb "example.org/toolplane/v1"
)

const digestName = "go.sha256"

// digestTool is the system's own `sha256sum` on one file of the workspace, in a sandbox that can only read.
func digestTool() *pb.ToolRegistration {
	schema := map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"path": map[string]any{"type": "string", "minLength": 1}},
		"required":             []string{"path"},
		"additionalProperties": false,
	}
	return &pb.ToolRegistration{
		Declaration: &pb.ToolDeclaration{
			ToolId:        "tool_go_sha256",
			Namespace:     "go",
			Name:          digestName,
			SearchHint:    "compute the digest of a file",
			Description:   "Computes the SHA-256 of a file below the workspace.",
			Lifecycle:     pb.ToolLifecycle_TOOL_LIFECYCLE_AVAILABLE,
			ToolKindCode:  pb.ToolKind_TOOL_KIND_FUNCTION,
			InputContract: &pb.InputContract{ModelInputSchema: value(schema), Strict: proto.Bool(true)},
		},
		Interface: &pb.ToolInterface{
			InterfaceId:       "iface_go_sha256",
			ToolId:            "tool_go_sha256",
			IsReadOnly:        known(true),
			IsConcurrencySafe: known(true),
			IsDestructive:     known(false),
			IsOpenWorld:       known(false),
			IsIdempotent:      known(true),
		},
		ExecutionProfile: &pb.ExecutionProfile{
			ExecutionProfileId: "exec_go_sha256",
			ExecutionKindCode:  pb.ExecutionKind_EXECUTION_KIND_LOCAL_PROCESS,
			SupportsCancel:     true,
			Sandboxed:          true,
			SandboxProfile:     proto.String("workspace_read_only"),
			TimeoutMs:          proto.Uint64(20_000),
			Binding: &pb.ExecutionBinding{Binding: &pb.ExecutionBinding_Process{
				Process: &pb.ProcessBinding{Argv: []string{"/usr/bin/sha256sum", "--", "{path}"}},
			}},
		},
	}
}

// known is a safety fact that does not depend on the input.
func known(fact bool) *pb.SafetyFact {
	return &pb.SafetyFact{Fact: &pb.SafetyFact_Known{Known: fact}}
}
