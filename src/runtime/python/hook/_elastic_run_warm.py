"""Warm starts: this process stops in the middle of Python's own start, imports what the last round's workers had
imported, and forks. Each child goes on with Python's start, as the worker that it is told to be: docs/warm-restarts.md.

Python itself then runs the script, so that `__main__`, tracebacks and exit codes are those of any start.
"""
import json
import os
import sys

from _elastic_run_hook import changes

_CONTROL = 3
"""The descriptor to the launcher: lines of JSON in both directions. The next three are the launcher's own streams."""

_OWN_DESCRIPTORS = 800
"""From where on this process keeps its own descriptors, so that modules find the low ones free."""

_NICE = 5
"""While it imports. A higher one would starve it on a machine whose processors the workers fill."""

_LOOK_AGAIN_SECONDS = 1
"""So old may a look at the preloaded files be."""

_LONGEST_REFUSAL = 400

_NOT_PARKED = -1

_PLACE = frozenset(
    """RANK LOCAL_RANK GROUP_RANK ROLE_RANK ROLE_NAME WORLD_SIZE LOCAL_WORLD_SIZE GROUP_WORLD_SIZE ROLE_WORLD_SIZE
    MASTER_ADDR MASTER_PORT TORCHELASTIC_RESTART_COUNT TORCHELASTIC_ERROR_FILE ELASTIC_RUN_CHANNEL ELASTIC_RUN_ROUND
    ELASTIC_RUN_HOOK ELASTIC_RUN_INSTANCE""".split()
)
"""What differs between workers: a module that reads one of these while it is imported cannot be imported ahead."""

_NOT_TO_FORK = frozenset(
    """comet_ml cupy grpc horovod jax jaxlib mpi4py neptune pycuda pyspark ray tensorflow tensorrt wandb zmq""".split()
)
"""Packages that start something when they are imported, or do not work in a forked process."""

_HARMLESS_DEVICES = frozenset(["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"])

_LIBRARY_FOLDERS = ("site-packages", "dist-packages")


class Refusal(Exception):
    """Why this process cannot start workers. `leave_out`: it could without these modules, which had set `sets`."""

    def __init__(self, reason, leave_out=(), sets=()):
        Exception.__init__(self, reason)
        self.leave_out = list(leave_out)
        self.sets = list(sets)


class _LeftOut(BaseException):
    """Ends the import of all that needs a module which is left to the workers: it would be another without it."""


_kept = None
"""The helper, in its workers: to free it would write to all that it refers to, and each page of that would be copied."""


def serve(launcher):
    """Returns in each worker. In this process it does not return: nothing may run the script here."""
    if os.getppid() != int(launcher):
        return  # A program on the way to the worker's own Python.
    helper = None
    try:
        del os.environ["ELASTIC_RUN_HELPER_OF"]
        helper = _Helper()
        if helper.run() == "worker":
            global _kept
            _kept = helper
            return
    except Refusal as refusal:
        reason = str(refusal)[:_LONGEST_REFUSAL]
        helper.say(kind="refused", reason=reason, leaveOut=refusal.leave_out, sets=refusal.sets)
    except BaseException as error:
        if helper is not None:
            text = "%s: %s" % (type(error).__name__, error)
            helper.say(kind="refused", reason=text[:_LONGEST_REFUSAL], leaveOut=[], sets=[])
    # With what its imports have started.
    os.killpg(0, 9)


def learned():
    """The modules that this process has imported from Python's own libraries, in the order of their import."""
    libraries = _libraries()
    own = _script_directory()
    return [name for name, module in list(sys.modules.items()) if _is_library(name, module, libraries, own)]


def write_learned(path, notes):
    """Leaves for the launcher what a later worker can import ahead, and how this one was started."""
    modules = learned()
    seconds = {} if notes is None else notes.seconds
    text = json.dumps(
        {
            "version": 1,
            "pid": os.getpid(),
            "executable": sys.executable,
            "arguments": _arguments(),
            "modules": modules,
            "milliseconds": [round(seconds.get(name, 0) * 1000) for name in modules],
            "users": _users(),
            "environments": _runs(modules, {} if notes is None else notes.environments),
        }
    )
    temporary = path + ".tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
    os.replace(temporary, path)


def _users():
    """The packages of the user's: others of the same name may lie in a library."""
    libraries = _libraries()
    own = _script_directory()
    found = set()
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "has_location", False) and not _is_in_library(spec.origin, libraries, own):
            found.add(name.partition(".")[0])
    return sorted(found - {"__main__", "sitecustomize"})


def _runs(modules, environments):
    """From which module on the environment had been changed in another way."""
    runs = []
    newest = {}
    for index, name in enumerate(modules):
        changed = _digests(environments[name]) if name in environments else newest
        if changed != newest:
            runs.append({"from": index, "changed": changed})
            newest = changed
    return runs


def _digests(changed):
    """What differs between workers is not looked at."""
    return {name: _digest(value) for name, value in changed.items() if name not in _PLACE}


def _digest(value):
    """Values may be secrets; -1: there is none any more."""
    from binascii import crc32

    return -1 if value is None else crc32(os.fsencode(value))


def _arguments():
    if hasattr(sys, "orig_argv"):
        return sys.orig_argv[1:]
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(part) for part in file.read().split(b"\0")[1:-1]]


def _libraries():
    standard = os.path.dirname(os.__file__)
    others = [entry for entry in sys.path if os.path.basename(entry) in _LIBRARY_FOLDERS]
    return tuple(os.path.realpath(entry) + os.sep for entry in [standard] + others)


def _script_directory():
    """What Python puts first on the path for a script; it must be the user's own, also below a library."""
    arguments = sys.argv[0] if sys.argv else ""
    if arguments in ("-m", "-c", ""):
        return os.getcwd()
    return os.path.dirname(os.path.realpath(arguments))


def _is_library(name, module, libraries, own):
    spec = getattr(module, "__spec__", None)
    if spec is None or spec.name != name or name == "__main__" or name.startswith("_elastic_run_"):
        return False
    if name in ("sitecustomize", "usercustomize", "site"):
        return False
    if spec.origin in ("built-in", "frozen"):
        return True
    return _is_in_library(spec.origin, libraries, own)


def _is_in_library(origin, libraries, own):
    if not isinstance(origin, str):
        return False
    path = os.path.realpath(origin)
    found = [library for library in libraries if path.startswith(library)]
    if not found:
        return False
    # A script that lies in a library itself has its modules beside it.
    is_beside = path.startswith(own + os.sep) and any(own.startswith(library) for library in found)
    return not is_beside


class _Helper:
    def __init__(self):
        self.control = _moved_up(_CONTROL)
        self.streams = [_moved_up(_CONTROL + 1 + number) for number in range(3)]
        self.pid = os.getpid()
        self.received = b""
        self.parked = {}
        self.watched = {}
        self.files = ()
        self.looked_at = 0
        self.changed = None
        self.environment_changes = {}

    def say(self, **message):
        try:
            os.write(self.control, (json.dumps(message) + "\n").encode())
        except OSError:
            os._exit(0)  # The launcher is gone.

    def run(self):
        if not hasattr(os, "pidfd_open"):
            raise Refusal("this Python cannot wait for other processes' ends (pidfd_open)")
        os.close(os.pidfd_open(self.pid))
        self.say(kind="hello")
        order = self.next_order()
        began = _seconds()
        with _LowPriority():
            left = self.preload(order)
        self.examine()
        self.environment_changes = changes(order["env"], dict(os.environ))
        modules = len(sys.modules)
        seconds = round(_seconds() - began, 3)
        self.say(kind="ready", modules=modules, bytes=_private_bytes(), seconds=seconds, left=left)
        return self.wait()

    def preload(self, order):
        """Returns what it has left to the workers: by index in the list, why."""
        import ctypes  # noqa: F401
        import gc

        import _elastic_run_hook

        _elastic_run_hook.prepare()
        own = _script_directory()
        has_own = not getattr(sys.flags, "safe_path", False)
        if has_own:
            # A library may look for a module of the user's.
            sys.path.insert(0, own)
        imports = _Watched(order, _LibraryTest(list(sys.path), own))
        imports.run(order["modules"])
        if has_own and own in sys.path:
            # Libraries may have added others.
            sys.path.remove(own)
        if imports.blamed:
            raise imports.refusal()
        libraries = _libraries()
        origins = set()
        for module in list(sys.modules.values()):
            origin = getattr(getattr(module, "__spec__", None), "origin", None)
            if isinstance(origin, str) and os.path.isabs(origin):
                origins.add(origin)
        # What Python remembers of the user's directories may be outdated when a worker starts.
        for entry in list(sys.path_importer_cache):
            if not (os.path.realpath(entry) + os.sep).startswith(libraries):
                del sys.path_importer_cache[entry]
        self.files = [(origin, _stamp(origin)) for origin in sorted(origins)]
        gc.collect()
        gc.freeze()
        return imports.left

    def examine(self):
        torch = sys.modules.get("torch")
        if torch is not None:
            for name in ("cuda", "xpu"):
                device = getattr(torch, name, None)
                if device is not None and device.is_initialized():
                    raise Refusal("%s is initialised by an import" % name)
        self.try_fork()
        threads = len(os.listdir("/proc/self/task"))
        if threads != 1:
            raise Refusal("%d threads run after the imports" % threads)

    def try_fork(self):
        """Libraries of linear algebra end their threads before a fork, and start them again when they are used."""
        pid = os.fork()
        if pid == 0:
            is_bad = 1
            try:
                torch = sys.modules.get("torch")
                is_bad = 0
                for name in ("cuda", "xpu"):
                    is_in_bad_fork = getattr(getattr(torch, name, None), "_is_in_bad_fork", bool)
                    is_bad |= bool(is_in_bad_fork())
            finally:
                os._exit(is_bad)
        if os.waitpid(pid, 0)[1] != 0:
            raise Refusal("an accelerator was used by an import, and cannot be used after a fork")

    def wait(self):
        import select

        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor != self.control:
                    poll.unregister(descriptor)
                    self.reap(descriptor)
                    continue
                for order in self.orders():
                    if order["kind"] == "start":
                        self.start(order)
                    elif order["kind"] == "look":
                        self.look_at_files()
                    elif order["kind"] == "park":
                        for _ in range(order["count"]):
                            watched = self.try_park()
                            if watched is None:
                                return "worker"
                            if watched == _NOT_PARKED:
                                break
                            poll.register(watched, select.POLLIN)

    def next_order(self):
        while True:
            for order in self.orders():
                return order

    def orders(self):
        """The next complete lines; ends this process when the launcher is gone."""
        data = os.read(self.control, 1 << 16)
        if not data:
            os._exit(0)
        self.received += data
        *lines, self.received = self.received.split(b"\n")
        return [json.loads(line) for line in lines]

    def reap(self, watched):
        pid = self.watched.pop(watched)
        _, status = os.waitpid(pid, 0)
        os.close(watched)
        pipe = self.parked.pop(pid, None)
        if pipe is not None:
            os.close(pipe)
        self.say(kind="exited", pid=pid, status=status)

    def start(self, order):
        pid = order["pid"]
        pipe = self.parked.pop(pid, None)
        if pipe is None:
            return  # Its end is told already.
        changed = self.look_at_files()
        if changed is not None:
            order = {"refusal": "%s has changed since it was imported" % changed}
        try:
            _write_all(pipe, json.dumps(order).encode() + b"\n")
        except OSError:
            pass  # It has ended.
        os.close(pipe)

    def look_at_files(self):
        now = _seconds()
        if self.changed is None and now - self.looked_at > _LOOK_AGAIN_SECONDS:
            self.changed = next((path for path, stamp in self.files if _stamp(path) != stamp), None)
            self.looked_at = now
        return self.changed

    def try_park(self):
        """As `park`. Where the system refuses it, those that run must not end with this process."""
        try:
            return self.park()
        except OSError as error:
            self.say(kind="refused", reason="no process can be forked: %s" % error.strerror, leaveOut=[], sets=[])
            return _NOT_PARKED

    def park(self):
        """Forks a worker that waits for its order. Returns what tells its end; None in the worker once it has its order."""
        mine, its = os.pipe()
        pid = 0
        try:
            pid = os.fork()
            watched = None if pid == 0 else os.pidfd_open(pid)
        except OSError:
            os.close(mine)
            os.close(its)
            if pid != 0:
                os.kill(pid, 9)
                os.waitpid(pid, 0)
            raise
        if watched is not None:
            os.close(mine)
            self.parked[pid] = its
            self.watched[watched] = pid
            self.say(kind="parked", pid=pid)
            return watched
        try:
            _die_with_parent(self.pid)
            os.setsid()
            for descriptor in [its, *self.parked.values(), *self.watched]:
                os.close(descriptor)
            _make_unlike_others()
            order = json.loads(_read_line(mine))
            os.close(mine)
            if "refusal" in order:
                raise Refusal(order["refusal"])
            self.become(order)
        except BaseException as error:
            reason = "%s" % error
            self.say(kind="not-started", pid=os.getpid(), reason=reason[:_LONGEST_REFUSAL])
            os._exit(0)
        return None

    def become(self, order):
        os.chdir(order["cwd"])
        if order["readsStdin"]:
            os.dup2(self.streams[0], 0)
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            self.open_stream(descriptor, order[name])
        for descriptor in self.streams:
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(order["env"])
        for name, value in self.environment_changes.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        _make_streams()
        _note_start()
        self.say(kind="started", pid=os.getpid())
        os.close(self.control)

    def open_stream(self, descriptor, stream):
        if "launchers" in stream:
            os.dup2(self.streams[stream["launchers"]], descriptor)
            return
        opened = os.open(stream["path"], stream["flags"] | os.O_CLOEXEC)
        found = os.fstat(opened)
        if [str(found.st_dev), str(found.st_ino)] != stream["identity"]:
            raise OSError("%s is another file by now" % stream["path"])
        os.dup2(opened, descriptor)
        os.close(opened)


class _LibraryTest:
    """Whether a package is found in Python's own libraries, and nowhere else first: the names may come from another node."""

    def __init__(self, path, own):
        self.path = path
        self.own = own
        self.libraries = _libraries()
        self.known = {}

    def __call__(self, package):
        if package not in self.known:
            self.known[package] = self.find(package)
        return self.known[package]

    def find(self, package):
        from importlib.machinery import PathFinder

        if package in sys.modules or package in sys.builtin_module_names:
            return True
        spec = PathFinder.find_spec(package, self.path)
        if spec is None:
            return False
        places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
        return any(_is_in_library(place, self.libraries, self.own) for place in places)


class _Watched:
    """Imports modules, and notes which of them cannot be imported ahead.

    What a module does is its own, not that of those which import it; but they fall with it."""

    def __init__(self, order, is_library):
        self.left_out = {one["module"]: (one["root"], one["what"]) for one in order["leaveOut"]}
        """By module: which one keeps it from being imported ahead, and what that one does."""
        self.blamed = {}
        """What has come to them here."""
        self.place = order["place"]
        self.stand_ins = {one["variable"]: one["value"] for one in order["sets"]}
        self.standing = set()
        self.sets = {}
        self.users = frozenset(order["users"])
        self.changed_from = {one["from"]: one["changed"] for one in order["environments"]}
        self.is_library = is_library
        self.libraries = _libraries()
        self.own = _script_directory()
        self.descriptors = _targets()
        self.threads = set(os.listdir("/proc/self/task"))
        self.has_children = False
        self.first = dict(os.environ)
        self.under_way = []
        self.suspicions = []
        """Of what modules under way have made, and may have taken away when they are imported: whose, a test, words."""
        self.left = []

    def run(self, names):
        import importlib._bootstrap as bootstrap

        if "tempfile" in names:
            # It is watched from the beginning.
            self.import_one("tempfile")
        usual = bootstrap._load_unlocked
        kind = type(os.environ)
        bootstrap._load_unlocked = lambda spec: self.load(spec, usual)
        os.environ.__class__ = _noting(self)
        expected = {}
        try:
            for index, name in enumerate(names):
                expected = self.changed_from.get(index, expected)
                if name in sys.modules or self.cause_of(name) is not None:
                    continue
                package = name.partition(".")[0]
                if package in _NOT_TO_FORK:
                    self.left.append([index, "it does not work in a forked process"])
                    continue
                if not self.is_library(package):
                    continue
                self.stand_in(expected)
                variable = self.unlike(expected)
                if variable is None:
                    self.import_one(name)
                else:
                    self.left.append([index, "imported after %s was changed" % variable])
        finally:
            self.stand_in({})
            os.environ.__class__ = kind
            bootstrap._load_unlocked = usual
            if "tempfile" in sys.modules:
                sys.modules["tempfile"]._name_sequence = None

    def refusal(self):
        causes = ["%s %s" % cause for cause in dict.fromkeys(self.blamed.values())]
        leave_out = [{"module": name, "root": root, "what": what} for name, (root, what) in self.blamed.items()]
        sets = [
            {"variable": variable, "value": value}
            for variable, (name, value) in self.sets.items()
            if self.cause_of(name) is not None
        ]
        return Refusal("; ".join(causes), leave_out, sets)

    def unlike(self, expected):
        """A variable that has another value than the worker had at this import; None if there is none."""
        found = _digests(changes(self.first, dict(os.environ)))
        # What an import has set here is not the script's, also if the list is another node's and says nothing of it.
        return next((name for name in changes(expected, found) if name in expected or name not in self.sets), None)

    def stand_in(self, expected):
        """Gives variables the values that modules which are left out had given them in the worker, for as long as they had
        them there. Without its place such a module gives the same one: it does not depend on the worker."""
        for name, value in self.stand_ins.items():
            if expected.get(name) == _digest(value):
                os.environ[name] = value
                self.standing.add(name)
            elif name in self.standing:
                self.standing.remove(name)
                if name in self.first:
                    os.environ[name] = self.first[name]
                else:
                    del os.environ[name]

    def import_one(self, name):
        import importlib

        try:
            importlib.import_module(name)
        except (Exception, _LeftOut):
            pass  # The worker will see for itself.

    def load(self, spec, usual):
        """What Python does with each module that it has found; modules that this one imports come here meanwhile."""
        name = spec.name
        self.look_around()
        cause = self.cause_of(name) or self.problem_of(spec)
        if cause is not None:
            self.leave([*self.under_way, name], cause)
            raise _LeftOut(name)
        self.under_way.append(name)
        try:
            module = usual(spec)
        finally:
            self.look_around()
            self.judge(name)
            self.under_way.pop()
        if name in self.blamed:
            # Others that import it shall come here, too.
            sys.modules.pop(name, None)
            raise _LeftOut(name)
        return module

    def cause_of(self, name):
        """Why it is left out; None if it is not."""
        while name:
            cause = self.blamed.get(name) or self.left_out.get(name)
            if cause is not None:
                return cause
            name = name.rpartition(".")[0]
        return None

    def problem_of(self, spec):
        """What is known against it before its import."""
        name = spec.name
        package = name.partition(".")[0]
        if package in _NOT_TO_FORK:
            return package, "does not work in a forked process"
        if isinstance(spec.origin, str) and os.path.isabs(spec.origin):
            if not _is_in_library(spec.origin, self.libraries, self.own):
                return name, "is the user's own"
            if package in self.users:
                return name, "is another than the worker's"
        return None

    def leave(self, names, cause):
        for name in names:
            if name not in self.left_out:
                self.blamed.setdefault(name, cause)

    def blame(self, what):
        """Blames the module whose import is under way, and so those that wait for it."""
        if self.under_way:
            self.leave(list(self.under_way), (self.under_way[-1], what))

    def read(self, key):
        if key in _PLACE:
            self.blame("reads %s" % key)

    def suspect(self, is_so, what):
        if self.under_way:
            self.suspicions.append((list(self.under_way), is_so, what))

    def judge(self, name):
        """Called at the end of its import: what it has made may be gone."""
        own = [one for one in self.suspicions if one[0][-1] == name]
        self.suspicions = [one for one in self.suspicions if one[0][-1] != name]
        for names, is_so, what in own:
            if is_so():
                self.leave(names, (name, what))

    def look_around(self):
        """What a process must have for itself is no worker's if the helper has made it."""
        before, self.descriptors = self.descriptors, _targets()
        for descriptor, target in self.descriptors.items() - before.items():
            if target not in _HARMLESS_DEVICES:
                kind = target if target.startswith("/") else "a " + target.partition(":")[0]
                self.suspect(_HasTarget(descriptor, target), "leaves %s open" % kind)
        for thread in set(os.listdir("/proc/self/task")) - self.threads:
            self.threads.add(thread)
            self.suspect(_OutlivesFork(thread), "starts a thread")
        if not self.has_children and _has_children():
            # If others start processes as well, that shows once this module is left out.
            self.has_children = True
            self.suspect(self.still_has_children, "starts a process")
        tempfile = sys.modules.get("tempfile")
        if tempfile is not None and not isinstance(tempfile._name_sequence, _TemporaryNames):
            tempfile._name_sequence = _TemporaryNames(self)

    def still_has_children(self):
        self.has_children = _has_children()
        return self.has_children


class _HasTarget:
    """Whether a descriptor is still open on what it was."""

    def __init__(self, descriptor, target):
        self.descriptor = descriptor
        self.target = target

    def __call__(self):
        return _target(self.descriptor) == self.target


class _OutlivesFork:
    """Whether a thread is there after a fork: those of linear algebra end before it, and come back when they are used."""

    def __init__(self, thread):
        self.thread = thread

    def __call__(self):
        path = "/proc/self/task/" + self.thread
        if os.path.exists(path):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        return os.path.exists(path)


class _TemporaryNames:
    """Gives tempfile the names that it tries, and knows whose they are."""

    def __init__(self, watch):
        import tempfile

        self.watch = watch
        self.usual = tempfile._RandomNameSequence()

    def __iter__(self):
        return self

    def __next__(self):
        name = next(self.usual)
        caller = sys._getframe(1)
        folder = caller.f_locals.get("dir")
        # mktemp only gives the name away: what is made by it comes later.
        is_for_later = folder is None or caller.f_code.co_name == "mktemp"
        self.watch.suspect(lambda: is_for_later or _has_entry(folder, name), "makes a temporary file")
        return name


def _has_entry(folder, name):
    try:
        return any(name in os.fsdecode(entry) for entry in os.listdir(folder))
    except FileNotFoundError:
        return False


def _noting(watch):
    """A kind of os.environ that tells what is read. A list of its names has those of a worker's place, as a worker's own
    has; only their values differ between workers. Who goes through all of them may want only what begins in a certain way."""
    from collections.abc import ItemsView, KeysView

    class Names(KeysView):
        def __iter__(self):
            for name in self._mapping:
                yield _ListedName(name) if name in _PLACE else name

    class Pairs(ItemsView):
        def __iter__(self):
            for name in Names(self._mapping):
                yield name, self._mapping[name]

    class Noting(os._Environ):
        def __getitem__(self, key):
            if isinstance(key, _ListedName):
                return _Unread(watch, str(key))
            watch.read(key)
            return super().__getitem__(key)

        def __contains__(self, key):
            watch.read(key)
            return super().__contains__(key)

        def __setitem__(self, key, value):
            super().__setitem__(key, value)
            if watch.under_way:
                watch.standing.discard(key)
                watch.sets[key] = (watch.under_way[-1], value)

        def __iter__(self):
            # First, because who goes through all of them may keep the last one.
            if watch.under_way:
                yield from watch.place
            yield from super().__iter__()

        def keys(self):
            return Names(self)

        def items(self):
            return Pairs(self)

        def __repr__(self):
            watch.blame("reads all of the environment")
            return super().__repr__()

        def __reduce_ex__(self, protocol):
            watch.blame("copies the environment")
            return super().__reduce_ex__(protocol)

    return Noting


class _ListedName(str):
    """A variable that comes with all others: dict(os.environ) asks for each value by its name."""

    def __reduce__(self):
        return str, (str(self),)


class _Unread:
    """A variable's value that nobody has looked at. It is no text, so that nothing takes it for one: whatever is done with
    it reads the variable, and so does who keeps it."""

    def __init__(self, watch, name):
        import gc
        import weakref

        object.__setattr__(self, "read", lambda: watch.read(name))
        mine = weakref.ref(self)

        def is_kept():
            if mine() is not None:
                gc.collect()
            return mine() is not None

        watch.suspect(is_kept, "reads %s" % name)

    def __getattribute__(self, name):
        object.__getattribute__(self, "read")()
        return object.__getattribute__(self, name)


def _reading(method):
    usual = getattr(str, method)

    def read(self, *others):
        object.__getattribute__(self, "read")()
        return usual("", *others)

    return read


for _name in "eq ne lt le gt ge hash str repr format len contains getitem iter add".split():
    setattr(_Unread, "__%s__" % _name, _reading("__%s__" % _name))
for _name in "fspath bytes int float".split():
    setattr(_Unread, "__%s__" % _name, _reading("__str__"))


class _LowPriority:
    """What this process imports may not slow down the workers that run. Its children never inherit it."""

    def __enter__(self):
        self.usual = os.getpriority(os.PRIO_PROCESS, 0)
        self.is_nice = _may_be_undone(self.usual)
        if self.is_nice:
            os.setpriority(os.PRIO_PROCESS, 0, max(self.usual, _NICE))
        self.set_group(_NICE)

    def __exit__(self, *_):
        if self.is_nice:
            os.setpriority(os.PRIO_PROCESS, 0, self.usual)
        self.set_group(0)

    def set_group(self, nice):
        """The kernel's group of this session; each worker has a session of its own."""
        try:
            with open("/proc/self/autogroup", "w") as file:
                file.write(str(nice))
        except OSError:
            pass


def _has_children():
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return True
    except ChildProcessError:
        return False


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


def _die_with_parent(parent):
    import ctypes

    PR_SET_PDEATHSIG, SIGKILL = 1, 9
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    if os.getppid() != parent:
        os._exit(0)


def _make_streams():
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


def _make_unlike_others():
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


def _note_start():
    if "logging" in sys.modules:
        import time

        logging = sys.modules["logging"]
        is_whole = isinstance(logging._startTime, int)
        logging._startTime = time.time_ns() if is_whole else time.time()


def _moved_up(descriptor):
    import fcntl
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lowest = _OWN_DESCRIPTORS if limit == resource.RLIM_INFINITY else min(_OWN_DESCRIPTORS, limit // 2)
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
    os.close(descriptor)
    return high


def _targets():
    """What each descriptor is open on."""
    listed = {int(name): _target(int(name)) for name in os.listdir("/proc/self/fd")}
    return {descriptor: target for descriptor, target in listed.items() if target is not None}


def _target(descriptor):
    try:
        return os.readlink("/proc/self/fd/%d" % descriptor)
    except OSError:
        return None  # That of the listing itself.


def _stamp(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _private_bytes():
    try:
        with open("/proc/self/smaps_rollup") as file:
            lines = [line.split() for line in file if line.startswith("Private_")]
    except OSError:
        return 0
    return sum(int(line[1]) for line in lines) * 1024


def _seconds():
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


def _write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]
