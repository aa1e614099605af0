"""The RPCs this package uses: one line for each, with the messages that go and come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from toolplane.v1 import invocation_service_pb2 as invocations
from toolplane.v1 import permission_service_pb2 as permissions
from toolplane.v1 import surface_service_pb2 as surfaces
from toolplane.v1 import worker_service_pb2 as workers


@dataclass(frozen=True, eq=False)
class Method:
    """One RPC."""

    path: str
    serialize: Callable[[Any], bytes]
    parse: Callable[[bytes], Any]


def _method(service: str, name: str, messages: Any) -> Method:
    request, response = getattr(messages, f"{name}Request"), getattr(messages, f"{name}Response")
    return Method(f"/toolplane.v1.{service}/{name}", request.SerializeToString, response.FromString)


CALL = _method("InvocationService", "Call", invocations)
INVOKE = _method("InvocationService", "Invoke", invocations)
SUBMIT = _method("InvocationService", "SubmitInvocation", invocations)
GET = _method("InvocationService", "GetInvocation", invocations)
WAIT = _method("InvocationService", "WaitInvocation", invocations)
WATCH = _method("InvocationService", "WatchInvocation", invocations)
CANCEL = _method("InvocationService", "CancelInvocation", invocations)
LIST_CALLS = _method("InvocationService", "ListInvocations", invocations)
READ_PAYLOAD = _method("InvocationService", "ReadPayload", invocations)
PROVIDE_INPUT = _method("InvocationService", "ProvideInput", invocations)
EXPLAIN = _method("InvocationService", "ExplainInvocation", invocations)
SUBMIT_BATCH = _method("InvocationService", "SubmitBatch", invocations)
WATCH_BATCH = _method("InvocationService", "WatchBatch", invocations)
CANCEL_BATCH = _method("InvocationService", "CancelBatch", invocations)

REGISTER = _method("SurfaceService", "RegisterTools", surfaces)
CREATE_SURFACE = _method("SurfaceService", "CreateSurface", surfaces)
EXTEND_SURFACE = _method("SurfaceService", "ExtendSurface", surfaces)
DELETE_SURFACE = _method("SurfaceService", "DeleteSurface", surfaces)
WATCH_SURFACE = _method("SurfaceService", "WatchSurface", surfaces)
LIST_SURFACE_TOOLS = _method("SurfaceService", "ListSurfaceTools", surfaces)
SEARCH = _method("SurfaceService", "SearchTools", surfaces)
LOAD = _method("SurfaceService", "LoadTools", surfaces)
UNLOAD = _method("SurfaceService", "UnloadTools", surfaces)
LIST_SYNONYMS = _method("SurfaceService", "ListSynonyms", surfaces)
ADD_SYNONYMS = _method("SurfaceService", "AddSynonyms", surfaces)
FORGET_USE = _method("SurfaceService", "ForgetUse", surfaces)
REMOVE_SYNONYMS = _method("SurfaceService", "RemoveSynonyms", surfaces)
EXPORT = _method("SurfaceService", "ExportSurface", surfaces)
MAP_CALLS = _method("SurfaceService", "MapCalls", surfaces)
CARDS = _method("SurfaceService", "ListToolCards", surfaces)

GET_APPROVAL = _method("PermissionService", "GetApproval", permissions)
RESOLVE_APPROVAL = _method("PermissionService", "ResolveApproval", permissions)

WORK = _method("WorkerService", "Work", workers)
HEARTBEAT = _method("WorkerService", "Heartbeat", workers)
UPLOAD = _method("WorkerService", "UploadPayload", workers)
