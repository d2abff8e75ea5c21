"""How the workers of a round meet in a torch process group, for who joins it with what
`WorkerInfo.get_pg_parameters()` gives.

torch's own meeting at `tcp://` cannot be interrupted, and does not know of rounds: a worker that comes
to the place of a round that is over waits there for half an hour. This one gives up a round that is
left, waits for the next one and meets there. It is the same TCPStore at the same address.
"""
from __future__ import annotations

import datetime
import os
import socket
import sys
import time

from ._errors import warn
from ._session import open_session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, Optional

_RETRY_S = 0.05

_PATIENCE = datetime.timedelta(seconds=5)
"""For one answer of a store that has been found."""

_ATTEMPT = "elastic-run/attempt"
"""Where rank 0 writes which attempt of its round to meet its store is for."""

_places: set[str] = set()
"""Those that this process was given."""

_met: set[str] = set()
"""The attempts that have led to a group: a store that still names one of them is about to be closed."""

_is_prepared = False


def prepare(place: str) -> None:
    """From now on torch meets there, where torch is to be had, as this file says."""
    global _is_prepared
    _places.add(place)
    if _is_prepared:
        return
    _is_prepared = True
    try:
        _replace_handler()
    except ImportError:
        pass
    except Exception as error:
        warn(
            "A worker whose round is left while it meets the others may wait for long:"
            f" {error}"
        )


def _replace_handler() -> None:
    import importlib

    # The package has a function of the same name.
    rendezvous = importlib.import_module("torch.distributed.rendezvous")
    plain = rendezvous._rendezvous_handlers["tcp"]

    def meet(url: str, **options: Any) -> Iterator[tuple[Any, int, int]]:
        if url.partition("?")[0] not in _places:
            found: Iterator[tuple[Any, int, int]] = plain(url, **options)
            return found
        return iter([_join(options.get("timeout", rendezvous.default_pg_timeout))])

    rendezvous._rendezvous_handlers["tcp"] = meet


def _join(timeout: datetime.timedelta) -> tuple[Any, int, int]:
    """A store that all workers of the newest round share, this worker's rank, and how many they are."""
    session = open_session()
    while True:
        event = session.newest()
        # A worker that comes here has left its round.
        session.acknowledge(event)
        store = None if event.kind == "PAUSE" else _meet(event, session, timeout)
        if store is not None:
            session.take(event)
            if event.sequence > 1:
                session.say_working(event.round)
            return store, event.worker_info.rank, event.worker_info.world_size
        time.sleep(_RETRY_S)


def _meet(event: Any, session: Any, timeout: datetime.timedelta) -> Optional[Any]:
    """None where the round is left before all are here, or rank 0 closes its store."""
    import importlib

    dist: Any = importlib.import_module("torch.distributed")
    # A group that could not be completed counts all the same, and the number is part of the keys.
    if not dist.is_initialized():
        dist.distributed_c10d._world.group_count = 0
    deadline = time.monotonic() + timeout.total_seconds()
    info = event.worker_info
    server = None
    while session.newest().sequence == event.sequence:
        try:
            server = server or _open_store(dist, info)
            if server is not None:
                store = _try_to_meet(dist, server, info)
                if store is not None:
                    return store
        except RuntimeError:
            server = None
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"the {info.world_size} workers of round {info.round} have not met at"
                f" {info.master_addr}:{info.master_port} within {timeout.total_seconds():g} s"
            )
        time.sleep(_RETRY_S)
    return None


def _open_store(dist: Any, info: Any) -> Optional[Any]:
    """None where rank 0 does not listen yet. torch would wait, too, but could not be interrupted."""
    place = (info.master_addr, info.master_port)
    is_host = info.rank == 0
    try:
        if not is_host:
            socket.create_connection(place, 1).close()
    except OSError:
        return None
    store = dist.TCPStore(
        *place, info.world_size, is_host, _PATIENCE, wait_for_workers=False, multi_tenant=True
    )
    if is_host:
        store.set(_ATTEMPT, f"{info.round}/{os.urandom(8).hex()}")
    return store


def _try_to_meet(dist: Any, server: Any, info: Any) -> Optional[Any]:
    """None while somebody is missing."""
    if not server.check([_ATTEMPT]):
        return None
    attempt = server.get(_ATTEMPT).decode()
    if attempt in _met:
        return None
    store = dist.PrefixStore(attempt, server)
    store.set(f"here/{info.rank}", "")
    if info.rank == 0 and store.check([f"here/{rank}" for rank in range(info.world_size)]):
        store.set("all are here", "")
    if not store.check(["all are here"]):
        return None
    _met.add(attempt)
    return store
