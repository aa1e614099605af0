"""Heartbeats: leases are renewed from a thread of their own, over a connection of its own, so that no tool and no large report on
the stream delays them."""

from __future__ import annotations

import logging
import random
import threading
import time
from typing import Any

import grpc

from toolplane import _rpc, errors
from toolplane.connection import Connection
from toolplane.v1 import worker_service_pb2
from toolplane.worker.desk import Desk
from toolplane.worker.link import Link

_log = logging.getLogger("toolplane.worker")


class Heartbeats:
    """Renews the leases of what has not ended."""

    def __init__(self, desk: Desk, link: Link) -> None:
        self._desk = desk
        self._link = link
        self._over = threading.Event()
        self._channel: grpc.Channel | None = None
        self._endpoint = ""
        self._stub: Any = None

    def start(self) -> None:
        """Starts the thread."""
        threading.Thread(target=self._run, name="toolplane-heartbeats", daemon=True).start()

    def stop(self) -> None:
        """Ends it: the last thing a worker does."""
        self._over.set()

    def _run(self) -> None:
        pause = self._desk.terms.heartbeat
        while not self._over.wait(pause):
            answered = True
            if self._desk.assignments.open():
                answered = self._renew()
                self._give_up_late()
            # A tenth more or less, so that workers that started together do not beat together; sooner after a failure.
            pause = self._desk.terms.heartbeat * (random.uniform(0.9, 1.1) if answered else 0.25)
        if self._channel is not None:
            self._channel.close()

    def _renew(self) -> bool:
        """One request for all leases; false when nobody answered."""
        home, held = self._desk.home, self._desk.assignments.open()
        connection = self._link.current()
        request = worker_service_pb2.HeartbeatRequest(
            worker_id=home.worker_id, incarnation=home.incarnation, leases=[one.lease for one in held]
        )
        sent = time.monotonic()
        try:
            # Short enough for another try while the leases hold.
            answer = self._of(connection)(request, timeout=self._desk.terms.lease / 3, metadata=connection.metadata)
        except grpc.RpcError as error:
            _log.debug("a heartbeat was not answered: %s", errors.of_rpc(error))
            self._endpoint = ""
            return False
        doubtful = {lease.lease_id for lease in [*answer.fenced, *answer.unsure]}
        for one in held:
            if one.key not in doubtful:
                one.renewed_at = sent
        for lease in answer.fenced:
            self._link.lost_open(lease)
        for cancel in answer.cancels:
            self._link.cancel(cancel)
        for provided in answer.inputs:
            self._desk.answered(provided)
        return True

    def _give_up_late(self) -> None:
        """A call that holds an exclusive lock must stop before its lease can end: another one may begin then."""
        margin = max(self._desk.terms.lease / 5, self._desk.terms.heartbeat)
        for one in self._desk.assignments.open():
            if one.dispatch.exclusive_lock and time.monotonic() - one.renewed_at > self._desk.terms.lease - margin:
                one.stop.give("in_doubt")

    def _of(self, connection: Connection) -> Any:
        if self._endpoint != connection.endpoint or self._stub is None:
            if self._channel is not None:
                self._channel.close()
            self._channel = connection.channel(own=True)
            method = _rpc.HEARTBEAT
            self._stub = self._channel.unary_unary(
                method.path, request_serializer=method.serialize, response_deserializer=method.parse
            )
            self._endpoint = connection.endpoint
        return self._stub
