"""Tools that a provider takes from their worker, instead of being registered by it."""

from __future__ import annotations

import uuid
from pathlib import Path

import grpc

from processes import until
from toolplane import Connection, Toolplane, Worker
from toolplane.v1 import provider_pb2
from toolplane.v1 import provider_service_pb2 as providers
from toolplane.v1 import provider_service_pb2_grpc as services

FACTS = {"read_only": True, "destructive": False, "open_world": False, "idempotent": True, "concurrency_safe": True}


def test_a_provider_takes_the_tools_of_its_worker(tools: Toolplane, endpoint: str, tmp_path: Path) -> None:
    unique = uuid.uuid4().hex[:8]
    provider, namespace = f"own{unique}", f"native{unique}"
    with Connection.of().channel() as channel:
        service = services.ProviderServiceStub(channel)
        source = provider_pb2.WorkerSource(native_prefix=f"{namespace}.")
        made = provider_pb2.Provider(provider_id=provider, worker=source, trust=provider_pb2.PROVIDER_TRUST_ALL_TOOLS)
        service.PutProvider(providers.PutProviderRequest(provider=made), timeout=30)
        for names in (["hello"], ["hello", "bye"]):
            worker = Worker(namespace, data_dir=tmp_path, provider=provider)
            for name in names:
                worker.tool(lambda who="": f"{who}!", name=name, description=f"Says {name}.", **FACTS)
            # It says itself that its tools have changed, so nobody has to ask.
            with worker:
                wanted = "select:" + ",".join(f"{provider}.{name}" for name in names)
                # Its tools are found a moment before they can be called.
                until(
                    lambda wanted=wanted, names=names: (  # type: ignore[misc]
                        [found.loaded for found in tools.search(wanted)] == [True] * len(names)
                    ),
                    "its tools",
                )
                answered = tools.call(f"{provider}.{names[-1]}", {"who": "you"}, on_approval=lambda _: "approve")
                assert answered.value == "you!"
        reasons = {found.name: found.reason for found in tools.list()}
        assert reasons[f"{provider}.bye"] == ""
        service.RemoveProvider(providers.RemoveProviderRequest(provider_id=provider), timeout=30)
        assert not any(found.name == f"{provider}.bye" for found in tools.list())


def test_the_generated_stubs_are_there_for_what_has_no_method(endpoint: str) -> None:
    with grpc.insecure_channel(endpoint.removeprefix("http://")) as channel:
        listed = services.ProviderServiceStub(channel).ListProviders(providers.ListProvidersRequest(), timeout=30)
    assert listed is not None
