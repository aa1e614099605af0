#!/bin/sh
# Makes stubs from the protos as they are, compiles the agent, and runs it.
#
# Usage: JAVA_FOLDER=... run.sh PROTO_FOLDER [HOST:PORT]; without an address it only compiles.
#
#   JAVA_FOLDER  holds `protoc`, its plugin for gRPC, and gRPC for Java, as `cargo xtask test --prepare` unpacks them
#                (target/java); `java` and `javac` (17 or newer) are the machine's
#
# In a project of your own, a plugin of Maven or Gradle for protobuf does the first half.
set -eu
proto=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "$JAVA_FOLDER/work-XXXXXX")
trap 'rm -rf "$work"' EXIT
jars=$(printf '%s:' "$JAVA_FOLDER"/usr/share/java/*.jar)

# For programs that are over in seconds the second compiler of Java costs more than it saves.
quick='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

# Compiled stubs are kept until a proto changes: there is half a million lines of them.
digest=$(cat "$proto"/toolplane/v1/*.proto "$here/error_info.proto" "$here/run.sh" | sha256sum | cut -c 1-16)
stubs="$JAVA_FOLDER/stubs/$digest"
if [ ! -d "$stubs" ]; then
    mkdir "$work/source" "$work/stubs"
    # The programs were unpacked, not installed: they are told where their libraries are.
    libraries=$(dirname "$(find "$JAVA_FOLDER/usr/lib" -name 'libprotoc.so.*' | head -n 1)")
    (
        cd "$proto"
        LD_LIBRARY_PATH="$libraries" "$JAVA_FOLDER/usr/bin/protoc" -I. -I"$here" -I"$JAVA_FOLDER/usr/include" \
            --java_out="$work/source" \
            --plugin="protoc-gen-grpc-java=$JAVA_FOLDER/usr/bin/grpc_java_plugin" --grpc-java_out="$work/source" \
            toolplane/v1/*.proto error_info.proto
    )
    find "$work/source" -name '*.java' >"$work/files"
    # shellcheck disable=SC2086,SC2046
    javac $(printf -- '-J%s ' $quick) -nowarn -proc:none -g:none -cp "$jars" -d "$work/stubs" "@$work/files"
    rm -rf "$JAVA_FOLDER/stubs"
    mkdir "$JAVA_FOLDER/stubs"
    mv "$work/stubs" "$stubs"
fi

# shellcheck disable=SC2086,SC2046
javac $(printf -- '-J%s ' $quick) -Xlint:all -Werror -proc:none -cp "$stubs:$jars" -d "$work/classes" "$here"/*.java
# shellcheck disable=SC2086
[ $# -lt 2 ] || java $quick -cp "$work/classes:$stubs:$jars" example.Main "$2"
