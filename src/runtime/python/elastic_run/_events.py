"""What a worker is told: its place in the world, the events of its rounds, and that its machine will go."""
from __future__ import annotations

import enum

from . import _process
from ._hints import TYPE_CHECKING, Any, Mapping, Optional, R, dataclass


class _Word(str, enum.Enum):
    """A string like any other, when it is compared, printed or made JSON of, that also has a name."""

    __str__ = str.__str__


class WorkerState(_Word):
    """What the agent asks of a worker: to work, or to hold still until the next WORK."""

    HEALTHY = "HEALTHY"
    PAUSED = "PAUSED"


class WorldChangeEvent(_Word):
    """Why the world changed. A worker's or node's failure is a SCALE_DOWN."""

    SCALE_UP = "SCALE_UP"
    SCALE_DOWN = "SCALE_DOWN"


class _Record:
    """Becomes a frozen dataclass when it is used: importing dataclasses takes longer than importing all
    that this library needs."""

    if not TYPE_CHECKING:

        def __new__(cls, *_args, **_fields):
            make_dataclasses()
            return object.__new__(cls)


@dataclass(frozen=True)
class WorkerInfo(_Record):
    """A worker's place in the world of one round. A frozen dataclass."""

    local_rank: int
    """Rank among the workers of this node, from 0."""
    role_rank: int
    """Rank among the workers of the same role, from 0."""
    rank: int
    """Global rank among all workers, from 0."""
    local_world_size: int
    """Number of workers on this node."""
    role_world_size: int
    """Number of workers of this role."""
    world_size: int
    """Number of workers in the world."""
    group_rank: int
    """Rank of this node among the nodes, from 0."""
    group_world_size: int
    """Number of nodes in the world."""
    role: str
    master_addr: str
    """Address of the node of rank 0."""
    master_port: int
    """A port that is free on the node of rank 0 for this round."""
    round: int
    """Number of the round, from 1; higher in each later round."""
    restart_count: int
    """Incidents that the run has been charged for so far; the same in every worker."""
    run_id: str

    def get_pg_parameters(self) -> dict[str, Any]:
        """`rank`, `world_size` and `init_method`, for
        `torch.distributed.init_process_group(backend, **info.get_pg_parameters())`.

        That call then joins the newest round, of which `torch.distributed.get_rank()` tells: where this
        info's round is left before all have met, it says so to the agent, waits for the next WORK, and
        meets the others there."""
        host = f"[{self.master_addr}]" if ":" in self.master_addr else self.master_addr
        init_method = f"tcp://{host}:{self.master_port}"
        from . import _meeting

        _meeting.prepare(init_method)
        return {"rank": self.rank, "world_size": self.world_size, "init_method": init_method}


@dataclass(frozen=True)
class WorkerEvent(_Record):
    """One message from the agent to a worker. A frozen dataclass."""

    sequence: int
    """Position in this worker's channel: 1, 2, 3 … without gaps."""
    timestamp: float
    """Milliseconds since 1970, by the agent's clock."""
    kind: str
    """"PAUSE" or "WORK"."""
    worker_state: WorkerState
    """What the agent asks for: "HEALTHY", to work, or "PAUSED", to hold still until the next WORK."""
    change_event: Optional[WorldChangeEvent]
    """Why: "SCALE_UP" or "SCALE_DOWN" (a failure is one, too), the same in a PAUSE and in the WORK
    that ends it; None in a worker's first event."""
    instance: int
    """Names one start of a run; (instance, round), compared in that order, is the fencing token."""
    round: int
    reason: str
    """Why, in words."""
    worker_info: WorkerInfo
    """In a PAUSE: that of the round being left."""


@dataclass(frozen=True)
class Preemption(_Record):
    """This worker's machine will go. A frozen dataclass."""

    deadline: Optional[float]
    """When, in milliseconds since 1970; None if unknown."""
    source: str
    """Who says so: "aws", "gcp", "azure", "slurm", "kubernetes", "file", "lifetime", "command" or
    "chaos"."""
    reason: str
    """Why, in words."""


_are_dataclasses = False


def make_dataclasses() -> None:
    """What the first call of a worker does."""
    global _are_dataclasses
    with _process.lock:
        if _are_dataclasses:
            return
        # First of all: a signal handler that comes in between must not begin again.
        _are_dataclasses = True
        import dataclasses

        for record in (WorkerInfo, WorkerEvent, Preemption):
            dataclasses.dataclass(frozen=True)(record)


def record_of(kind: type[R], fields: Mapping[str, Any]) -> R:
    """One made without its initializer, which it may not have yet."""
    made = object.__new__(kind)
    made.__dict__.update(fields)
    return made
