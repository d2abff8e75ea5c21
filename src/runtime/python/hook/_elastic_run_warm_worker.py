"""Makes a forked process the worker that it is told to be."""
import os
import sys


def die_with_parent(parent):
    PR_SET_PDEATHSIG, SIGKILL = 1, 9
    prctl(PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def prctl(option, value):
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def make_streams():
    """As Python makes them at its start: what they do depends on what they are open on. They stay the same objects, which
    a module may have kept or replaced."""
    is_unbuffered = sys.__stdout__.write_through
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        text = getattr(sys, "__%s__" % name)
        encoding, errors, is_by_line = text.encoding, text.errors, text.line_buffering
        buffer = text.buffer
        raw = getattr(buffer, "raw", buffer)
        raw.__init__(descriptor, mode, closefd=False)
        raw.name = "<%s>" % name
        if buffer is not raw:
            buffer.__init__(raw, raw._blksize)
        text.__init__(
            buffer,
            encoding=encoding,
            errors=errors,
            newline="\n",
            line_buffering=is_by_line or not is_unbuffered and (raw.isatty() or descriptor == 2),
            write_through=is_unbuffered,
        )
        text.mode = mode


def make_unlike_others():
    """What a process draws or notes for itself when it imports a module. `random` does it at each fork."""
    modules = sys.modules
    if "numpy.random" in modules:
        modules["numpy.random"].seed()
    if "torch" in modules and hasattr(modules["torch"], "default_generator"):
        # Unlike torch.seed(), it leaves the accelerators alone, whose generators do not exist yet.
        modules["torch"].default_generator.seed()
    if "multiprocessing.process" in modules:
        modules["multiprocessing.process"].current_process().authkey = os.urandom(32)
    if "threading" in modules:
        modules["threading"].main_thread()._set_native_id()


def note_start():
    if "logging" in sys.modules:
        import time

        logging = sys.modules["logging"]
        is_whole = isinstance(logging._startTime, int)
        logging._startTime = time.time_ns() if is_whole else time.time()
