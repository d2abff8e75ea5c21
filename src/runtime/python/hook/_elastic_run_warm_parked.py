"""A forked process on its way to a worker: it imports what is for this worker alone, and waits for its order."""
import json
import os
import sys

from _elastic_run_hook import changes
from _elastic_run_warm_imports import Refusal
from _elastic_run_warm_worker import die_with_parent, make_streams, make_unlike_others, note_start

LONGEST_REFUSAL = 400

_NICE = 2
"""While it imports: about half a processor is left to it where two workers fill two of them, a quarter with 5."""


def wait_as_worker(helper, order, others, mine, told):
    """Returns once this process is the worker that it was told to be; otherwise it ends.

    `others`: descriptors that are not its own; `mine`: where the order comes from; `told`: where it tells of its imports."""
    try:
        die_with_parent(helper.pid)
        os.setsid()
        for descriptor in others:
            os.close(descriptor)
        make_unlike_others()
        files = _import_alone(helper, order, told)
        order = json.loads(_read_line(mine))
        os.close(mine)
        changed = changed_file(files)
        if changed is not None:
            order["refusal"] = refusal_of(changed)
        if "refusal" in order:
            raise Refusal(order["refusal"])
        _become(helper, order)
    except BaseException as error:
        reason = "%s" % error
        helper.say(kind="not-started", pid=os.getpid(), reason=reason[:LONGEST_REFUSAL])
        os._exit(0)


def _import_alone(helper, order, told):
    """Imports what depends on the worker's place, or cannot be forked, and says what came of it."""
    own = set()
    about = {"modules": 0, "seconds": 0, "left": [], "reads": None}
    before = len(sys.modules)
    began = seconds()
    env = helper.env
    imports = helper.imports
    try:
        if order["place"] is not None:
            env = {**env, **order["place"]}
            with LowPriority():
                imports.go_alone(order)
                own = imports.import_ahead(helper.names) - {path for path, _ in helper.files}
            refuse_accelerators()
            about["left"] = imports.left
            about["reads"] = imports.reads
        about["modules"] = len(sys.modules) - before
        about["seconds"] = round(seconds() - began, 3)
        helper.environment_changes = changes(env, dict(os.environ))
        answer = {"kind": "parked", "bytes": private_bytes(), **about}
    except BaseException as error:
        answer = {"kind": "unfit", "reason": str(error)[:LONGEST_REFUSAL]}
        answer["leaveOut"] = getattr(error, "leave_out", [])
        answer["sets"] = getattr(error, "sets", [])
    files = stamps(own)
    write_all(told, json.dumps(answer).encode() + b"\n")
    if answer["kind"] == "unfit":
        os._exit(0)
    os.close(told)
    return files


def _become(helper, order):
    os.chdir(order["cwd"])
    if order["readsStdin"]:
        os.dup2(helper.streams[0], 0)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        _open_stream(helper, descriptor, order[name])
    for descriptor in helper.streams:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(order["env"])
    for name, value in helper.environment_changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    make_streams()
    note_start()
    helper.say(kind="started", pid=os.getpid())
    os.close(helper.control)


def _open_stream(helper, descriptor, stream):
    if "launchers" in stream:
        os.dup2(helper.streams[stream["launchers"]], descriptor)
        return
    opened = os.open(stream["path"], stream["flags"] | os.O_CLOEXEC)
    found = os.fstat(opened)
    if [str(found.st_dev), str(found.st_ino)] != stream["identity"]:
        raise OSError("%s is another file by now" % stream["path"])
    os.dup2(opened, descriptor)
    os.close(opened)


def refuse_accelerators():
    torch = sys.modules.get("torch")
    for name in ("cuda", "xpu"):
        device = getattr(torch, name, None)
        if device is not None and device.is_initialized():
            raise Refusal("%s is initialised by an import" % name)


class LowPriority:
    """What is imported ahead may not slow down the workers that run. Forked processes never inherit it."""

    def __enter__(self):
        self.usual = os.getpriority(os.PRIO_PROCESS, 0)
        self.is_nice = _may_be_undone(self.usual)
        if self.is_nice:
            os.setpriority(os.PRIO_PROCESS, 0, max(self.usual, _NICE))
        self.set_group(_NICE)

    def __exit__(self, *_):
        if self.is_nice:
            # Threads that imports have started have it, too.
            for thread in os.listdir("/proc/self/task"):
                os.setpriority(os.PRIO_PROCESS, int(thread), self.usual)
        self.set_group(0)

    def set_group(self, nice):
        """The kernel's group of this session; each worker has a session of its own."""
        try:
            with open("/proc/self/autogroup", "w") as file:
                file.write(str(nice))
        except OSError:
            pass


def _may_be_undone(usual):
    """A process without rights may lower its priority, but not raise it again."""
    pid = os.fork()
    if pid == 0:
        may = 1
        try:
            os.setpriority(os.PRIO_PROCESS, 0, min(19, usual + 1))
            os.setpriority(os.PRIO_PROCESS, 0, usual)
            may = 0
        finally:
            os._exit(may)
    return os.waitpid(pid, 0)[1] == 0


def stamps(paths):
    return [(path, _stamp(path)) for path in sorted(paths)]


def changed_file(files):
    return next((path for path, stamp in files if _stamp(path) != stamp), None)


def refusal_of(changed):
    return "%s has changed since it was imported" % changed


def _stamp(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def private_bytes():
    try:
        with open("/proc/self/smaps_rollup") as file:
            lines = [line.split() for line in file if line.startswith("Private_")]
    except OSError:
        return 0
    return sum(int(line[1]) for line in lines) * 1024


def seconds():
    import time

    return time.monotonic()


def _read_line(descriptor):
    text = b""
    while not text.endswith(b"\n"):
        part = os.read(descriptor, 1 << 16)
        if not part:
            os._exit(0)  # The helper is gone.
        text += part
    return text


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]
