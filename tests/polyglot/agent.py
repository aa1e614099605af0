"""An agent in Python: declares a tool, makes a surface, searches, loads, calls, has a call approved, fetches the result.

Usage: agent.py HOST:PORT PROTO_FOLDER. The stubs are made from the protos at each run.
"""

import hashlib
import json
import sys
import tempfile
import threading
from pathlib import Path

import grpc
from grpc_tools import protoc


def make_stubs(proto):
    """Generates Python code for every proto into a folder that is thrown away, and makes it importable."""
    out = tempfile.mkdtemp(prefix="toolplane-stubs-")
    files = sorted(str(file.relative_to(proto)) for file in Path(proto).rglob("*.proto"))
    include = str(Path(protoc.__file__).parent / "_proto")
    code = protoc.main(["protoc", f"-I{proto}", f"-I{include}", f"--python_out={out}", f"--grpc_python_out={out}", *files])
    assert code == 0, "the protos cannot be compiled"
    sys.path.insert(0, out)


ENDPOINT, PROTO = sys.argv[1], sys.argv[2]
make_stubs(PROTO)

from toolplane.v1 import declaration_pb2 as declaration  # noqa: E402
from toolplane.v1 import contract_pb2 as contract  # noqa: E402
from toolplane.v1 import execution_profile_pb2 as execution  # noqa: E402
from toolplane.v1 import interface_pb2 as interface  # noqa: E402
from toolplane.v1 import invocation_service_pb2 as invocations  # noqa: E402
from toolplane.v1 import invocation_service_pb2_grpc as invocations_grpc  # noqa: E402
from toolplane.v1 import payload_pb2 as payload  # noqa: E402
from toolplane.v1 import permission_service_pb2 as permissions  # noqa: E402
from toolplane.v1 import permission_service_pb2_grpc as permissions_grpc  # noqa: E402
from toolplane.v1 import registration_pb2 as registration  # noqa: E402
from toolplane.v1 import surface_service_pb2 as surfaces  # noqa: E402
from toolplane.v1 import surface_service_pb2_grpc as surfaces_grpc  # noqa: E402
from toolplane.v1 import vocabulary_pb2 as words  # noqa: E402

PATIENCE = 60


def value(something):
    """A JSON value to send: its exact bytes and their digest."""
    text = json.dumps(something).encode()
    return payload.JsonPayload(inline=text, sha256=hashlib.sha256(text).digest(), size_bytes=len(text))


def read(received):
    return json.loads(received.inline)


def say(step, *what):
    print(step, *what, flush=True)


def checksum_tool():
    """`python.checksum`: the system's own sha256sum on one file of the workspace."""
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string", "minLength": 1}},
        "required": ["path"],
        "additionalProperties": False,
    }
    fact = lambda known: interface.SafetyFact(known=known)  # noqa: E731
    return registration.ToolRegistration(
        declaration=declaration.ToolDeclaration(
            tool_id="tool_python_checksum",
            namespace="python",
            name="python.checksum",
            search_hint="compute a checksum digest of a file",
            description="Computes the SHA-256 of a file below the workspace.",
            lifecycle=words.TOOL_LIFECYCLE_AVAILABLE,
            tool_kind="function",
            input_contract=contract.InputContract(model_input_schema=value(schema), strict=True),
        ),
        interface=interface.ToolInterface(
            interface_id="iface_python_checksum",
            tool_id="tool_python_checksum",
            is_read_only=fact(True),
            is_concurrency_safe=fact(True),
            is_destructive=fact(False),
            is_open_world=fact(False),
            is_idempotent=fact(True),
        ),
        execution_profile=execution.ExecutionProfile(
            execution_profile_id="exec_python_checksum",
            execution_kind="local_process",
            supports_progress=True,
            supports_cancel=True,
            sandboxed=True,
            sandbox_profile="workspace_read_only",
            timeout_ms=20000,
            binding=execution.ExecutionBinding(
                process=execution.ProcessBinding(argv=["/usr/bin/sha256sum", "--", "{path}"])
            ),
        ),
    )


def echo_tool():
    """`python.echo`: gives back what it gets, with a field nobody else may see."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "key": {"type": "string"}}}
    fact = lambda known: interface.SafetyFact(known=known)  # noqa: E731
    return registration.ToolRegistration(
        declaration=declaration.ToolDeclaration(
            tool_id="tool_python_echo",
            namespace="python",
            name="python.echo",
            description="Gives back its input.",
            lifecycle=words.TOOL_LIFECYCLE_AVAILABLE,
            tool_kind="function",
            input_contract=contract.InputContract(
                model_input_schema=value(schema), strict=True, sensitive_fields=["/key"]
            ),
        ),
        interface=interface.ToolInterface(
            interface_id="iface_python_echo",
            tool_id="tool_python_echo",
            is_read_only=fact(True),
            is_concurrency_safe=fact(True),
            is_destructive=fact(False),
            is_open_world=fact(False),
            is_idempotent=fact(True),
        ),
        execution_profile=execution.ExecutionProfile(
            execution_profile_id="exec_python_echo",
            execution_kind="embedded_runtime",
            binding=execution.ExecutionBinding(native=execution.NativeBinding(name="native.echo")),
        ),
    )


class Agent:
    def __init__(self, channel):
        self.surfaces = surfaces_grpc.SurfaceServiceStub(channel)
        self.permissions = permissions_grpc.PermissionServiceStub(channel)
        self.invocations = invocations_grpc.InvocationServiceStub(channel)
        self.surface = ""

    def declare(self):
        request = surfaces.RegisterToolsRequest(tools=[checksum_tool(), echo_tool()])
        registered = self.surfaces.RegisterTools(request, timeout=PATIENCE).tools
        assert registered[0].outcome == surfaces.REGISTRATION_OUTCOME_CREATED, registered
        again = self.surfaces.RegisterTools(request, timeout=PATIENCE).tools
        assert again[0].outcome == surfaces.REGISTRATION_OUTCOME_UNCHANGED, again
        say("declared", registered[0].tool_id, registered[0].digest)

    def make_surface(self):
        request = surfaces.CreateSurfaceRequest(
            scope="session",
            defer_policy=surfaces.DEFER_POLICY_ALL,
            role="agent",
            interaction_mode=surfaces.INTERACTION_MODE_INTERACTIVE,
            producer="python-agent",
        )
        surface = self.surfaces.CreateSurface(request, timeout=PATIENCE).surface
        assert not surface.loaded_tools and len(surface.deferred_tools) >= 9, surface
        self.surface = surface.surface_id
        say("surface", self.surface, len(surface.deferred_tools), "deferred")

    def search(self, query, expected):
        request = surfaces.SearchToolsRequest(surface_id=self.surface, query=query)
        result = self.surfaces.SearchTools(request, timeout=PATIENCE).result
        assert result.refs and result.refs[0].name == expected, result
        say("searched", repr(query), "->", expected)
        return result.refs[0].name

    def load(self, *names):
        request = surfaces.LoadToolsRequest(surface_id=self.surface, names=names)
        for outcome in self.surfaces.LoadTools(request, timeout=PATIENCE).outcomes:
            assert outcome.WhichOneof("outcome") == "loaded", outcome
            assert read(outcome.loaded.model_input_schema)["type"] == "object"
        say("loaded", *names)

    def spec(self, tool, arguments):
        return invocations.InvocationSpec(
            surface_id=self.surface, tool_name=tool, model_input=value(arguments), actor_ref="python-agent"
        )

    def invoke(self, tool, arguments):
        """Calls a tool and returns its events and its result."""
        events, result, accepted = [], None, None
        request = invocations.InvokeRequest(spec=self.spec(tool, arguments))
        for message in self.invocations.Invoke(request, timeout=PATIENCE):
            if message.HasField("accepted"):
                accepted = message.accepted
            events.extend(message.events)
            for event in message.events:
                if event.event_class == words.EVENT_CLASS_EXT_INVOCATION_AWAITING_APPROVAL:
                    # Somebody else answers, while this stream stays open.
                    threading.Thread(target=self.approve, args=[read(event.data)["approval_id"]]).start()
            if message.HasField("result"):
                result = message.result
        assert accepted and accepted.durability == "fsynced", accepted
        assert result is not None, "the stream ended without a result"
        assert [event.sequence for event in events] == list(range(1, len(events) + 1)), "events with a gap"
        say("invoked", tool, result.status, result.ui_facing_summary)
        return events, result

    def call(self, tool, arguments):
        """The shortest way: one request, one answer."""
        answer = self.invocations.Call(invocations.CallRequest(spec=self.spec(tool, arguments)), timeout=PATIENCE)
        assert answer.HasField("result") and not answer.HasField("invocation"), answer
        assert answer.result.invocation_id == answer.accepted.invocation_id, answer
        say("called", tool, answer.result.status)
        return answer.result

    def approve(self, approval_id):
        """Answers like a person who lets the call run after a correction."""
        approval = self.permissions.GetApproval(
            permissions.GetApprovalRequest(approval_id=approval_id), timeout=PATIENCE
        ).approval
        shown = read(approval.permission_input)
        assert "seq 1 30001" in shown["command"], shown
        kinds = [option.kind for option in approval.options]
        assert words.PERMISSION_OPTION_ALLOW_ONCE in kinds and words.PERMISSION_OPTION_REJECT_ONCE in kinds, kinds
        corrected = shown | {"command": shown["command"].replace("30001", "30000")}
        request = permissions.ResolveApprovalRequest(
            approval_id=approval_id,
            option=words.PERMISSION_OPTION_ALLOW_ONCE,
            updated_input=value(corrected),
            feedback="fine, but one line less",
            resolved_by="python-operator",
        )
        answered = self.permissions.ResolveApproval(request, timeout=PATIENCE).approval
        assert answered.state == words.APPROVAL_STATE_APPROVED, answered
        say("approved", approval_id)

    def fetch(self, result, expected):
        """Reads the kept output in two ranges and proves its digest."""
        kept = [block.persisted_output_ref for block in result.content if block.HasField("persisted_output_ref")]
        assert kept, "nothing was kept by reference"
        half, whole = kept[0].size_bytes // 2, b""
        for offset, limit in [(0, half), (half, 0)]:
            request = invocations.ReadPayloadRequest(
                invocation_id=result.invocation_id, uri=kept[0].uri, offset=offset, limit=limit
            )
            for part in self.invocations.ReadPayload(request, timeout=PATIENCE):
                assert part.offset == len(whole), "parts out of order"
                whole += part.data
        assert whole == expected, f"{len(whole)} bytes instead of {len(expected)}"
        assert kept[0].digest == "sha256:" + hashlib.sha256(whole).hexdigest()
        say("fetched", len(whole), "bytes", kept[0].digest)

    def replay(self, events, result):
        request = invocations.WatchInvocationRequest(invocation_id=result.invocation_id, from_seq=3)
        messages = list(self.invocations.WatchInvocation(request, timeout=PATIENCE))
        seen = [event for message in messages for event in message.events]
        assert [event.event_id for event in seen] == [event.event_id for event in events][2:]
        assert messages[-1].result == result
        say("replayed", len(seen), "events")

    def changes(self, result):
        """The correction is on record, and what the model said is not touched."""
        request = invocations.ListMutationsRequest(invocation_id=result.invocation_id)
        changes = self.invocations.ListMutations(request, timeout=PATIENCE).mutations
        assert [list(change.changed_fields) for change in changes] == [["/command"]], changes
        request = invocations.GetInvocationRequest(invocation_id=result.invocation_id, include_inputs=True)
        call = self.invocations.GetInvocation(request, timeout=PATIENCE).invocation
        assert "30001" in read(call.model_input)["command"] and "30000" in read(call.call_input)["command"], call
        say("corrected", *changes[0].changed_fields)

    def numbers(self):
        """Integers of any size come back as they went, also where a field beside them is hidden."""
        self.load("python.echo")
        for number in [2**53 + 1, 2**64 - 1, 2**64, -(2**63) - 1, 10**200 + 7]:
            _, result = self.invoke("python.echo", {"n": number, "key": "s3cret"})
            assert not result.is_error, result.error
            assert read(result.structured_content)["n"] == number, result
            request = invocations.GetInvocationRequest(invocation_id=result.invocation_id, include_inputs=True)
            call = self.invocations.GetInvocation(request, timeout=PATIENCE).invocation
            assert read(call.call_input)["n"] == number and read(call.model_input)["n"] == number, call
            assert read(call.observable_input) == {"n": number, "key": "[redacted]"}, call
        say("numbers", number)

    def refused(self):
        """Wrong JSON is an error of the call; wrong arguments are a result."""
        spec = self.spec("python.checksum", {})
        spec.model_input.CopyFrom(payload.JsonPayload(inline=b'{"a":1,"a":2}'))
        try:
            self.invocations.SubmitInvocation(invocations.SubmitInvocationRequest(spec=spec), timeout=PATIENCE)
            raise AssertionError("duplicate keys were accepted")
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
            assert any(key == "grpc-status-details-bin" for key, _ in error.trailing_metadata()), "no details"
        _, result = self.invoke("python.checksum", {"path": 7})
        assert result.is_error and result.error.error_class == "schema_validation_failed", result
        say("refused", result.error.error_code)


def main():
    with grpc.insecure_channel(ENDPOINT) as channel:
        grpc.channel_ready_future(channel).result(timeout=PATIENCE)
        agent = Agent(channel)
        agent.declare()
        agent.make_surface()
        checksum = agent.search("checksum of a file", "python.checksum")
        shell = agent.search("run shell commands", "local.shell.exec")
        agent.load(checksum, shell)
        command = "mkdir -p made && for n in $(seq 1 30001); do echo line $n; done | tee made/lines.txt"
        events, result = agent.invoke(shell, {"command": command})
        assert not result.is_error, result.error
        expected = b"".join(b"line %d\n" % number for number in range(1, 30001))
        agent.changes(result)
        agent.fetch(result, expected)
        agent.replay(events, result)
        result = agent.call(checksum, {"path": "made/lines.txt"})
        assert not result.is_error, result.error
        assert hashlib.sha256(expected).hexdigest() in result.content[0].text.text, result
        agent.numbers()
        agent.refused()
        say("done")


main()
