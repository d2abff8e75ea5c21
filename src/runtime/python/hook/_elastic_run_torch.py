"""What the launcher's hook does where torch is imported: it counts optimizer steps, times what a rank does by itself,
and opens torch's worker socket. `_elastic_run_hook` loads it then, and not before: most of a start's cost is its size.
"""
import os
import sys

from _elastic_run_hook import STEPS_DESCRIPTORS, moved_up

_LONGEST_SOCKET_PATH_BYTES = 107
"""That a unix socket's address holds."""

_PRIVATE_PREFIX = "elastic-run-hook-"
"""Of the short directory for a socket whose path would be too long; the launcher knows it by this name."""

_TRY_EVERY = 64
"""After so many steps a process looks again whether the other one that trained has ended."""

_ERRORS_ONLY = 2
"""Of the levels of torch's log."""


class TorchHook:
    def __init__(self, hook):
        self.hook = hook
        self.steps = None

    def imported(self, module):
        listeners = {
            "torch.distributed.distributed_c10d": self.watch_groups,
            "torch": self.watch_steps,
        }
        listeners[module.__name__](module)

    def watch_steps(self, torch):
        model = sys.modules["torch.nn.parallel.distributed"].DistributedDataParallel
        is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)
        self.steps = _Steps(self.hook)
        counter = self.steps.counter(is_compiling, model.forward)
        sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(counter)
        self.time_forward(model, is_compiling, torch.is_grad_enabled)

    def time_forward(self, model, is_compiling, is_grad_enabled):
        """Notes when a rank has nothing more to do before it waits for the others: at the end of its model's forward
        pass, because the backward pass of DistributedDataParallel waits for the slowest rank."""
        import functools

        forward = model.forward
        steps = self.steps
        clock = steps.clock

        def timed_forward(self, *args, **kwargs):
            result = forward(self, *args, **kwargs)
            if not is_compiling():
                steps.ready_at = clock()
                steps.passed(self.training or is_grad_enabled())
            return result

        model.forward = functools.wraps(forward)(_looks_like(forward, timed_forward))

    def watch_groups(self, distributed):
        """Tells that this process joins a group, and opens torch's socket once it has: who only imports torch gets no thread
        for it."""
        import functools

        original = distributed.init_process_group

        @functools.wraps(original)
        def init_process_group(*args, **kwargs):
            self.tell_group("joining")
            result = original(*args, **kwargs)
            self.tell_group("joined")
            return result

        distributed.init_process_group = init_process_group

    def tell_group(self, state):
        try:
            hook = self.hook
            if hook.trains():
                hook.process_group = state
                hook.tell()
                if state == "joined" and hook.torch_socket == "null":
                    self.serve()
        except Exception:
            pass

    def serve(self):
        import json

        path = self.socket_path()
        _open_torch_server(path)
        self.hook.torch_socket = json.dumps(path)
        self.hook.tell()

    def socket_path(self):
        path = self.hook.path("torch.sock")
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH_BYTES:
            return path
        import atexit
        import shutil
        import tempfile

        private = tempfile.mkdtemp(prefix=_PRIVATE_PREFIX)
        pid = os.getpid()
        atexit.register(lambda: os.getpid() == pid and shutil.rmtree(private, ignore_errors=True))
        short = os.path.join(private, "torch.sock")
        if len(os.fsencode(short)) > _LONGEST_SOCKET_PATH_BYTES:
            raise OSError("no path is short enough")
        return short


def _open_torch_server(path):
    """Starts torch's thread that answers on this socket. Raises if it cannot be had without a trace in the script."""
    import ctypes
    import signal
    import torch
    from torch._C._distributed_c10d import _WorkerServer

    # The server says on stderr that it listens, and ignores SIGPIPE.
    library = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    loaded = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    log_level = ctypes.c_int.in_dll(loaded, "FLAGS_caffe2_log_level")
    on_broken_pipe = signal.getsignal(signal.SIGPIPE)
    if on_broken_pipe is None:
        raise OSError("its handler of SIGPIPE could not be set again")
    signal.signal(signal.SIGPIPE, on_broken_pipe)  # Only the main thread may.
    level, log_level.value = log_level.value, max(log_level.value, _ERRORS_ONLY)
    try:
        server = _WorkerServer(path)
    finally:
        log_level.value = level
        signal.signal(signal.SIGPIPE, on_broken_pipe)
    # It lives as long as the process: a forked child that took it down would wait for a thread that it lacks.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))


class _Steps:
    """What the file `steps` says, and when this rank was last ready to wait for the others.

    An optimizer that steps again begins a new step: those of a GAN take turns, and one may make its step inside of another's.
    A trainer that counts by itself is believed.
    """

    def __init__(self, hook):
        import time
        from weakref import WeakSet

        self.hook = hook
        self.clock = time.perf_counter_ns
        self.ready_at = None
        self.steps = self.timed = self.own = self.next_try = 0
        self.before = self.descriptor = None
        self.is_counting = True
        self.is_timed = False
        """A time of this step has been counted."""
        self.is_taken = False
        """A trainer counts."""
        self.stepped = WeakSet()
        """The optimizers that have made theirs in this step."""
        # The steps of a forked child are not those of its parent. But a parent that made none may have forked the trainer.
        os.register_at_fork(after_in_child=self.stop)

    def stop(self):
        self.is_counting = self.is_counting and self.steps == 0

    def take(self, step):
        """A trainer has come so far."""
        self.is_taken = True
        if step != self.steps and self.is_counting:
            self.steps = step
            self.tell()

    def passed(self, trains):
        """A model of all ranks has made a pass, for training or for an evaluation."""
        frameworks = self.hook.frameworks
        if frameworks is not None:
            frameworks.passed(trains)

    def counter(self, is_compiling, torchs):
        """What torch calls after each step of an optimizer. `torchs` is any function of torch's that its compiler leaves to
        Python."""
        clock = self.clock

        def count(optimizer, _args, _kwargs):
            if is_compiling() or not self.is_counting:
                return
            now = clock()
            if self.ready_at is not None and self.before is not None:
                self.own += self.ready_at - self.before
                self.is_timed = True
            self.before, self.ready_at = now, None
            if not self.is_taken and self.begins_step(optimizer):
                self.steps += 1
                self.tell()

        # Where torch's compiler follows a step, it goes on there, and finds neither a module that it cannot import nor a
        # reason to compile what it would leave to Python. (So `torch.jit` says what it has replaced.)
        count._torchdynamo_inline = _nothing
        return _looks_like(torchs, count)

    def begins_step(self, optimizer):
        stepped = self.stepped
        try:
            begins = len(stepped) == 0 or optimizer in stepped
            if begins:
                stepped.clear()
            stepped.add(optimizer)
            return begins
        except TypeError:
            return True  # It cannot be told from others.

    def tell(self):
        """Replaces the numbers in the file."""
        hook, descriptor = self.hook, self.descriptor
        self.passed(True)
        self.timed += self.is_timed
        self.is_timed = False
        if descriptor is None and self.steps < self.next_try:
            return
        numbers = (self.steps, self.timed, self.own)
        text = b"%20d" % self.steps if self.timed == 0 else b"%20d%20d%20d" % numbers
        try:
            if descriptor is not None:
                os.pwrite(descriptor, text, 0)
                return
            self.next_try = self.steps + _TRY_EVERY
            if hook.trains():
                # It must be there when the launcher sees the first step.
                hook.learn()
                self.descriptor = _open_steps(hook.path("steps"), text)
                hook.listen_again()
        except Exception:
            self.descriptor = None
            self.next_try = 0


def _nothing(_optimizer, _args, _kwargs):
    pass


def _looks_like(torchs, function):
    """Torch's compiler leaves out what Python calls of such a file; where it follows the caller, it goes on there."""
    code = torchs.__code__
    function.__code__ = function.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno)
    return function


def _open_steps(path, text):
    """Makes the file, which appears with its numbers; returns its descriptor."""
    temporary = path + ".tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    descriptor = moved_up(os.open(temporary, flags, 0o600), STEPS_DESCRIPTORS)
    try:
        os.pwrite(descriptor, text, 0)
        os.replace(temporary, path)
    except OSError:
        os.close(descriptor)  # It is tried again at each step.
        raise
    return descriptor
