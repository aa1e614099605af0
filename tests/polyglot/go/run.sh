#!/bin/sh
# Makes stubs from the protos as they are, compiles the agent, and runs it.
#
# Usage: GO_FOLDER=... PYTHON=... run.sh PROTO_FOLDER [HOST:PORT]; without an address it only compiles.
#
#   GO_FOLDER  holds Go, gRPC for Go and the two generators, as `cargo xtask test --prepare` unpacks them (target/go)
#   PYTHON     a Python with grpcio-tools: its `protoc` is as good as any
#
# In a module of your own, the same two plugins of `protoc` come from `go install`, and gRPC from
# `go get google.golang.org/grpc`.
set -eu
proto=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "$GO_FOLDER/work-XXXXXX")
trap 'rm -rf "$work"' EXIT

# The protos name no Go package, so each is told where its code belongs: all of them in one.
package='example.org/toolplane/v1;toolplanev1'
mappings=$(cd "$proto" && for file in toolplane/v1/*.proto; do
    printf '%s\n' "--go_opt=M$file=$package" "--go-grpc_opt=M$file=$package"
done)
mkdir -p "$work/src/agent"
(
    cd "$proto"
    # Word splitting is meant: one option for each word, and none of them has a space.
    # shellcheck disable=SC2086
    "$PYTHON" -m grpc_tools.protoc -I. $mappings \
        --plugin="protoc-gen-go=$GO_FOLDER/usr/bin/protoc-gen-go" --go_out="$work/src" \
        --plugin="protoc-gen-go-grpc=$GO_FOLDER/usr/bin/protoc-gen-go-grpc" --go-grpc_out="$work/src" \
        toolplane/v1/*.proto
)
cp "$here"/*.go "$work/src/agent"

# gRPC comes from Debian's packages, which are a GOPATH and no modules. What is compiled once is kept in the cache;
# `-trimpath` lets it fit although the folder is another one each time, and code that is not optimized is compiled in
# two thirds of the time.
GOROOT=$(echo "$GO_FOLDER"/usr/lib/go-*)
export GOROOT GOPATH="$work:$GO_FOLDER/usr/share/gocode" GOCACHE="$GO_FOLDER/cache"
export GO111MODULE=off GOTOOLCHAIN=local GOFLAGS= CGO_ENABLED=0
"$GOROOT/bin/go" build -trimpath -gcflags='all=-N -l' -o "$work/bin/agent" agent
[ $# -lt 2 ] || "$work/bin/agent" "$2"
