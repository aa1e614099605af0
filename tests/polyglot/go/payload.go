package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	pb "example.org/toolplane/v1"
)

// value makes a JSON value to send: its exact bytes and their digest. It panics on what cannot be written as JSON,
// which would be a mistake in this program.
func value(something any) *pb.JsonPayload {
	text := &bytes.Buffer{}
	encoder := json.NewEncoder(text)
	// `&` and `<` stay what they are: people read what they approve.
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(something); err != nil {
		panic(err)
	}
	inline := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	digest := sha256.Sum256(inline)
	return &pb.JsonPayload{
		Body:      &pb.JsonPayload_Inline{Inline: inline},
		Sha256:    digest[:],
		SizeBytes: uint64(len(inline)),
	}
}

// read puts a received JSON value into something.
func read(received *pb.JsonPayload, something any) error {
	if err := json.Unmarshal(received.GetInline(), something); err != nil {
		return fmt.Errorf("cannot read %q: %w", received.GetInline(), err)
	}
	return nil
}

// text is what a result says in words.
func text(result *pb.ToolResult) string {
	var words []string
	for _, block := range result.GetContent() {
		if text := block.GetText(); text != nil {
			words = append(words, text.GetText())
		}
	}
	return strings.Join(words, "\n")
}

func sha256Hex(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
