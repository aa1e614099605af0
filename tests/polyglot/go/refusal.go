package main

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// domain is where the reasons of Toolplane have their meaning.
const domain = "toolplane.dev"

// Refusal is a request that was refused: nothing was accepted.
type Refusal struct {
	// Code is the one of gRPC.
	Code codes.Code
	// Message is for people.
	Message string
	// Reason is stable, and explained in docs/errors.md; empty when the answer did not come from Toolplane.
	Reason string
	// Retry says whether to try again: `never`, `after_change`, and so on.
	Retry string
	// RetryAfter is how long to wait before that; 0 when nothing is said.
	RetryAfter time.Duration
	// Fields has the rule that each wrong field broke.
	Fields map[string]string
}

// refusalOf reads the details of an error; false when it is none that a server gave.
func refusalOf(err error) (*Refusal, bool) {
	answer, ok := status.FromError(err)
	if !ok || err == nil {
		return nil, false
	}
	refusal := &Refusal{Code: answer.Code(), Message: answer.Message(), Fields: map[string]string{}}
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == domain {
				refusal.Reason, refusal.Retry = detail.GetReason(), detail.GetMetadata()["retry"]
			}
		case *errdetails.RetryInfo:
			refusal.RetryAfter = detail.GetRetryDelay().AsDuration()
		case *errdetails.BadRequest:
			for _, violation := range detail.GetFieldViolations() {
				refusal.Fields[violation.GetField()] = violation.GetDescription()
			}
		}
	}
	return refusal, true
}

func (r *Refusal) String() string {
	var fields []string
	for field, rule := range r.Fields {
		fields = append(fields, fmt.Sprintf("`%s` %s", field, rule))
	}
	return strings.Join(append([]string{fmt.Sprintf("%s %s, retry %s", r.Code, r.Reason, r.Retry)}, fields...), "; ")
}
