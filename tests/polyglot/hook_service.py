"""A HookService in Python. Says `listening on HOST:PORT` and serves until it is killed.

Usage: hook_service.py PROTO_FOLDER [TOKEN]. With a token, callers must show it. What it answers is chosen by the id of the hook
that asks: an operator would have one service with one purpose.
"""

import hashlib
import json
import sys
import tempfile
import time
from concurrent import futures
from pathlib import Path

import grpc
from grpc_tools import protoc


def make_stubs(proto):
    out = tempfile.mkdtemp(prefix="toolplane-stubs-")
    files = sorted(str(file.relative_to(proto)) for file in Path(proto).rglob("*.proto"))
    include = str(Path(protoc.__file__).parent / "_proto")
    code = protoc.main(["protoc", f"-I{proto}", f"-I{include}", f"--python_out={out}", f"--grpc_python_out={out}", *files])
    assert code == 0, "the protos cannot be compiled"
    sys.path.insert(0, out)


make_stubs(sys.argv[1])
TOKEN = sys.argv[2] if len(sys.argv) > 2 else None

from toolplane.v1 import hook_pb2 as hook  # noqa: E402
from toolplane.v1 import hook_service_pb2 as hooks  # noqa: E402
from toolplane.v1 import hook_service_pb2_grpc as hooks_grpc  # noqa: E402
from toolplane.v1 import payload_pb2 as payload  # noqa: E402
from toolplane.v1 import rule_pb2 as rules  # noqa: E402
from toolplane.v1 import vocabulary_pb2 as words  # noqa: E402


def value(something):
    """A JSON value to send: its exact bytes and their digest."""
    text = json.dumps(something).encode()
    return payload.JsonPayload(inline=text, sha256=hashlib.sha256(text).digest(), size_bytes=len(text))


def denies(request):
    reason = f"no {request.tool_name} for {request.actor_ref or 'nobody'} in {request.permission_mode}"
    return hooks.HookOutput(permission_result=hook.HookPermission(behavior=words.BEHAVIOR_DENY, message=reason))


def rewrites(request):
    given = json.loads(request.observable_input.inline)
    return hooks.HookOutput(
        updated_input=value({**given, "seen_by": request.hook_id}),
        additional_context=[value("a text"), value({"text": "an object"})],
        progress=["looked"],
        message="rewritten",
    )


def classifies(request):
    command = json.loads(request.observable_input.inline).get("command", "")
    odd = "curl" in command
    return hooks.HookOutput(
        classifier=rules.ClassifierCheck(
            classifier_ref="commands-v1",
            confidence=0.97 if odd else 0.6,
            behavior=words.BEHAVIOR_DENY if odd else words.BEHAVIOR_ALLOW,
            reason="sends data out" if odd else "ordinary",
        )
    )


def shortens(request):
    texts = [block.text.text for block in request.content]
    return hooks.HookOutput(
        updated_output=value(" ".join(texts).upper()),
        persistence=words.PERSISTENCE_STRATEGY_NEVER_PERSIST,
        block="shortened",
    )


def breaks(_):
    return hooks.HookOutput(updated_input=payload.JsonPayload(inline=b"{", size_bytes=1))


def sleeps(_):
    time.sleep(30)
    return hooks.HookOutput()


ANSWERS = {
    "denies": denies,
    "rewrites": rewrites,
    "classifies": classifies,
    "shortens": shortens,
    "breaks": breaks,
    "sleeps": sleeps,
}


class Hooks(hooks_grpc.HookServiceServicer):
    def RunHook(self, request, context):
        shown = dict(context.invocation_metadata()).get("authorization")
        if TOKEN and shown != f"Bearer {TOKEN}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
        answer = ANSWERS.get(request.hook_id)
        if answer is None:
            return hooks.RunHookResponse()
        return hooks.RunHookResponse(output=answer(request))


server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
hooks_grpc.add_HookServiceServicer_to_server(Hooks(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(f"listening on 127.0.0.1:{port}", flush=True)
server.wait_for_termination()
