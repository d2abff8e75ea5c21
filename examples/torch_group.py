"""A gloo process group for one round, which PAUSE interrupts.

What torch (2.13) has for that does not do it: neither `ProcessGroup.abort()` and `shutdown()` nor
`destroy_process_group()` on another thread end a collective of gloo that waits for a peer; only its
time-out would. But what it waits for are sockets, and these any thread can shut down: then the call
raises within milliseconds, wherever it is, also while the group is still being made.
"""
import datetime
import os
import socket
import stat
import threading

# Its warnings come with thirty lines of stack, and a broken connection is daily bread here.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")

import elastic_run
import torch.distributed as dist

# DDP imports it. Its functions take the group of that moment as their default, and so hold it for ever. Before the
# first group they hold none.
import torch.distributed.nn.functional

# For who must start first, and import all that it needs.
PATIENCE_TO_MEET = datetime.timedelta(minutes=5)
# The last resort: for peers that are silent in a round that nobody leaves, and for gloo, which may
# miss that a connection was shut down in the moment in which it sends.
PATIENCE_IN_COLLECTIVE = datetime.timedelta(seconds=30)
RETRY_S = 0.05


class RoundOver(RuntimeError):
    """The round is being left. A RuntimeError, as what torch raises when a peer is gone."""


class RoundGroup:
    """Joins the group of a round, and leaves it whatever happens:

        with RoundGroup(info) as group:
            ...
    """

    def __init__(self, info):
        self._info = info
        self._pause = threading.Event()
        self._reason = ""
        self._left = threading.Event()
        self._earlier = _sockets().keys()
        self._own = None
        self._process_group = None

    def __enter__(self):
        self._unsubscribe = elastic_run.on_worker_event(self._hear)
        try:
            self._join()
        except BaseException as error:
            self._leave()
            self._explain(error)
            raise
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            # Whoever leaves first must not break what the others still wait for.
            dist.barrier()
        self._leave()
        self._explain(error)

    def go_on(self):
        """To be called before each step: raises RoundOver where it should not be made."""
        if self._pause.is_set():
            raise RoundOver(self._reason)

    def _join(self):
        info = self._info
        is_host = info.rank == 0
        if not is_host:
            self._await_host()
        # Neither an earlier start of the run nor an earlier round may answer.
        prefix = f"{os.environ.get('ELASTIC_RUN_INSTANCE', 0)}/{info.round}"
        server = dist.TCPStore(
            info.master_addr, info.master_port, info.world_size, is_host, PATIENCE_TO_MEET, wait_for_workers=False
        )
        store = dist.PrefixStore(prefix, server)
        store.set(f"here/{info.rank}", "")
        store.wait([f"here/{rank}" for rank in range(info.world_size)])
        dist.init_process_group(
            "gloo", store=store, rank=info.rank, world_size=info.world_size, timeout=PATIENCE_IN_COLLECTIVE
        )
        self._own = _sockets().keys() - self._earlier
        # Held for longer than DDP holds it. The last to let go of it waits for gloo's threads, and only
        # this reference does so without the interpreter's lock, which these threads may need to end.
        self._process_group = dist.group.WORLD

    def _await_host(self):
        """TCPStore, too, would wait for rank 0 to listen, but could not be interrupted."""
        while True:
            self.go_on()
            try:
                socket.create_connection((self._info.master_addr, self._info.master_port), 1).close()
                return
            except OSError:
                self._pause.wait(RETRY_S)

    def _leave(self):
        """Closes all connections, so that the others notice, and calls that still run end."""
        self._unsubscribe()
        self._left.set()
        self._shut_down()
        if dist.is_initialized():
            dist.destroy_process_group()
        # A group that was not completed counts all the same, and the number is part of the keys by which
        # the members of the next one find each other. Destroying one sets it back; nothing else does.
        dist.distributed_c10d._world.group_count = 0

    def _explain(self, error):
        """A connection that PAUSE has shut down looks as if a peer were gone."""
        if isinstance(error, RuntimeError):
            self.go_on()

    def _hear(self, event):
        if event.kind == "PAUSE" and event.round >= self._info.round:
            self._reason = f"PAUSE: {event.reason}"
            self._pause.set()
            threading.Thread(target=self._interrupt, daemon=True).start()

    def _interrupt(self):
        """More than once: a group that is just being made opens its connections one by one."""
        while not self._left.is_set():
            self._shut_down()
            self._left.wait(RETRY_S)

    def _shut_down(self):
        now = _sockets()
        for inode in now.keys() - self._earlier if self._own is None else self._own:
            _shut_down(inode, now.get(inode))


def _sockets():
    """The sockets of this process: their inodes, which are never used twice at a time, with a descriptor of each."""
    found = {}
    for name in os.listdir("/dev/fd"):
        try:
            status = os.fstat(int(name))
        except OSError:
            continue  # Closed meanwhile.
        if stat.S_ISSOCK(status.st_mode):
            found[status.st_ino] = int(name)
    return found


def _shut_down(inode, descriptor):
    """Ends the connection of a socket, unless it is closed, or only listens."""
    try:
        with socket.socket(fileno=os.dup(-1 if descriptor is None else descriptor)) as connection:
            # The descriptor may be another's by now.
            if os.fstat(connection.fileno()).st_ino == inode:
                connection.getpeername()
                connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
