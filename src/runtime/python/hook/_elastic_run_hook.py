"""The launcher's hook in a Python worker: it counts optimizer steps, makes the process tell its stacks at a signal, tells
the exception that ends it, and opens torch's worker socket. The launcher reads what it writes into ELASTIC_RUN_HOOK: docs/channel.md has the files.

It must cost next to nothing at the start, so it imports only what is built into Python, and what torch needs is in
_elastic_run_torch.py. It must never fail a script or print into it: whatever goes wrong here ends this hook alone.
"""
import os
import sys

import _elastic_run_exceptions

_SIGNALS_ABOVE_FIRST = range(7, 21)
"""The real-time signals to choose from, above the first one: scripts use SIGUSR1 and SIGUSR2 for their own ends."""

_STACK_DESCRIPTORS = (900, 200)
STEPS_DESCRIPTORS = (950, 250)
"""From where on to look for a free descriptor, by preference: scripts that close or expect low ones are not met. The two
are apart, so that none gets the other's number after a script has closed both."""

_FRAMEWORKS = (
    "torch.serialization",
    "torch.distributed.checkpoint.state_dict_saver",
    "accelerate.accelerator",
    "datasets.arrow_dataset",
    "transformers.trainer",
    "lightning.pytorch.trainer.connectors.callback_connector",
    "pytorch_lightning.trainer.connectors.callback_connector",
)
"""Modules that _elastic_run_frameworks.py listens to."""

_LOOKS = 16
"""How many descriptors are looked at."""


def start(directory):
    """Does everything that this process shall do for the launcher, unless another process of the worker does."""
    import _signal

    # Raises in another interpreter of a process that has been here already.
    _signal.set_wakeup_fd(-1)
    hook = _prepared or _Hook()
    hook.directory = directory
    if not _lives(_read_owner(os.path.join(directory, "trainer"))) and _claim(directory, "owner"):
        hook.begin()
    hook.watch_exceptions()
    if hook is not _prepared:
        hook.watch_torch()
    global _learn
    _learn = hook.learn


_prepared = None
"""The hook of a helper, which the workers that it forks start."""


def prepare():
    """Called in a helper before it imports for its workers: others copy torch's functions when they are imported."""
    global _prepared
    _prepared = _Hook()
    _prepared.watch_torch()


def learn():
    """Called at a worker's first report: it has imported by now what its training needs."""
    try:
        _learn()
    except Exception:
        pass


def _learn():
    pass  # This process has no hook.


def _claim(directory, name):
    """Writes this process into a file if it is the first living one of its worker that comes here."""
    pid = os.getpid()
    own = "%d %s\n" % (pid, _start_time(pid))
    path = os.path.join(directory, name)
    candidate = "%s.%d" % (path, pid)
    _write(candidate, own)
    try:
        for _ in range(4):
            try:
                # Appears with its content, and never replaces another's.
                os.link(candidate, path)
                return True
            except FileExistsError:
                found = _read_owner(path)
            if found == own:
                return True  # This process has executed another program.
            if _lives(found):
                return False
            _set_aside(path, found, candidate + ".old")
        return False
    finally:
        os.unlink(candidate)


def _set_aside(path, dead, aside):
    """Takes the file of a dead owner away, but leaves that of one which has come in between."""
    try:
        os.rename(path, aside)
        if _read(aside) != dead:
            os.link(aside, path)
        os.unlink(aside)
    except FileNotFoundError:
        pass
    except FileExistsError:
        os.unlink(aside)


def _read_owner(path):
    try:
        return _read(path)
    except FileNotFoundError:
        return ""  # It was set aside.


def _lives(owner):
    pid, _, start_time = owner.strip().partition(" ")
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        pass
    return start_time == "" or _start_time(int(pid)) in (start_time, "")


def _start_time(pid):
    """In clock ticks since the machine was started; another word for a process that has ended; empty if not known."""
    try:
        fields = _read("/proc/%d/stat" % pid).rpartition(")")[2].split()
    except OSError:
        return ""
    return "ended" if fields[0] in ("Z", "X") else fields[19]


class _Hook:
    start_time = staticmethod(_start_time)

    def __init__(self):
        self.directory = None
        self.signal = None
        self.stack = None
        self.learn_signal = None
        self.torch_socket = "null"  # As JSON.
        self.process_group = None
        self.torch = None
        self.frameworks = None
        self.has_warned = False
        self.trainer = None
        self.notes = None
        self.is_ending = False

    def begin(self):
        """From now on the launcher's questions go to this process."""
        for stale in ("steps", "phase", "ready.json", "exception.json", "torch.sock"):
            # Of an owner that is dead.
            try:
                os.unlink(self.path(stale))
            except FileNotFoundError:
                pass
        self.listen_again()
        self.learn_when_asked()
        self.tell()

    def watch_torch(self):
        listeners = {name: self.torch_imported for name in ("torch.distributed.distributed_c10d", "torch")}
        listeners.update((name, self.framework_imported) for name in _FRAMEWORKS)
        note = None if self.notes is None else self.notes.note
        _Imports(listeners, note, self.warn).install()

    def watch_exceptions(self):
        _Imports({"threading": _elastic_run_exceptions.watch(self)}).install()

    def is_asked(self):
        """Whether this process is asked what the worker does: the one that trains, else the owner."""
        pid = os.getpid()
        trainer = _read_owner(self.path("trainer"))
        asked = trainer if _lives(trainer) else _read_owner(self.path("owner"))
        return asked == "%d %s\n" % (pid, _start_time(pid))

    def torch_imported(self, module):
        if self.torch is None:
            self.torch = load("_elastic_run_torch").TorchHook(self)
        self.torch.imported(module)

    def framework_imported(self, module):
        if self.frameworks is None:
            code = load("_elastic_run_frameworks")
            self.frameworks = code.Frameworks(self, code.Phases(self))
        self.frameworks.imported(module)

    def warn(self, what, error):
        """Says once what this hook cannot follow here. Never raises."""
        if self.has_warned:
            return
        self.has_warned = True
        try:
            import warnings

            words = "elastic-run's hook cannot follow %s here: %s: %s (--no-hook leaves it out)"
            warnings.warn(words % (what, type(error).__name__, error), RuntimeWarning, stacklevel=2)
        except Exception:
            pass  # Warnings are errors in this program.

    def trains(self):
        """Called by a process that trains. The first that does is the one to ask: the hook's owner may be a program that
        only started it and waits. Whether it is this process."""
        pid = os.getpid()
        if self.trainer != pid:
            if not _claim(self.directory, "trainer"):
                return False
            self.trainer = pid
            if not self.is_told(pid):
                self.begin()
        return True

    def is_told(self, pid):
        """Whether the launcher's questions go to this process already."""
        try:
            return '"pid":%d,' % pid in _read(self.path("ready.json"))
        except FileNotFoundError:
            return False

    def path(self, name):
        return os.path.join(self.directory, name)

    def learn(self):
        """Leaves a list of the imported modules, if the launcher wants one: docs/warm-restarts.md."""
        try:
            os.unlink(self.path("learn"))
        except FileNotFoundError:
            return
        load("_elastic_run_warm_learned").write_learned(self.path("modules.json"), self.notes)

    def learn_when_asked(self):
        """The launcher may have to ask: what counts the steps of some scripts is only their output, or nothing."""
        if not os.path.exists(self.path("learn")):
            return
        notes = load("_elastic_run_notes")
        if self.notes is None:
            self.notes = notes.Notes()
        self.learn_signal = notes.learn_at_signal(self.learn_signal)

    def tell(self):
        """Says what the launcher may use by now."""
        text = '{"version":1,"kind":"python","pid":%d,"signal":%s,"torch_socket":%s,"learn_signal":%s%s}\n' % (
            os.getpid(),
            "null" if self.signal is None else self.signal,
            self.torch_socket,
            "null" if self.learn_signal is None else self.learn_signal,
            "" if self.process_group is None else ',"process_group":"%s"' % self.process_group,
        )
        self.replace("ready.json", text)

    def replace(self, name, text):
        """Writes a file whole: a reader finds the old one or the new one."""
        temporary = self.path(name + ".tmp")
        _write(temporary, text)
        os.replace(temporary, self.path(name))

    def listen(self):
        """Finds a signal at which all threads' stacks are appended to stack.txt, also where the interpreter is held."""
        number = free_signal() if self.signal is None else self.signal
        if number is None:
            return
        import faulthandler

        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self.stack = moved_up(os.open(self.path("stack.txt"), flags, 0o600), _STACK_DESCRIPTORS)
        faulthandler.register(number, file=self.stack, all_threads=True, chain=False)
        self.signal = number

    def listen_again(self):
        """Listens unless it does: the script may have closed all descriptors that it did not know."""
        try:
            os.fstat(-1 if self.stack is None else self.stack)
        except OSError:
            self.listen()


def changes(before, after):
    """The variables that have got another value, or None because they have none any more."""
    return {name: after.get(name) for name in {**before, **after} if before.get(name) != after.get(name)}


class _Imports:
    """Calls back when a module has been executed, and imports none: a finder that finds what the others find."""

    def __init__(self, listeners, note=None, warn=lambda *_: None):
        self._listeners = listeners
        self._note = note
        self._warn = warn

    def install(self):
        for name in list(self._listeners):
            if name in sys.modules:
                self._executed(name, sys.modules[name])
        if self._listeners:
            sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if self._note is not None:
            self._note(name)
        if name not in self._listeners:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(name, path, target)
            if spec is not None:
                self._listen_to(spec.loader, name)
                return spec
        return None

    def _listen_to(self, loader, name):
        def exec_module(module):
            vars(loader).pop("exec_module", None)
            loader.exec_module(module)
            self._executed(name, module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass  # A loader that cannot be listened to.

    def _executed(self, name, module):
        listener = self._listeners.pop(name, None)
        if not self._listeners and self._note is None and self in sys.meta_path:
            sys.meta_path.remove(self)
        try:
            if listener is not None:
                listener(module)
        except Exception as error:
            self._warn(name, error)  # A version that is made otherwise.


def free_signal():
    """A real-time signal that nobody in this process handles, ignores or blocks."""
    import _signal

    first = getattr(_signal, "SIGRTMIN", None)
    if first is None:
        return None
    taken = 0
    for line in _read("/proc/self/status").splitlines():
        if line.startswith(("SigBlk:", "SigIgn:", "SigCgt:")):
            taken |= int(line.split()[1], 16)
    for number in (first + above for above in _SIGNALS_ABOVE_FIRST):
        if number <= _signal.SIGRTMAX and not taken >> (number - 1) & 1:
            return number
    return None


def moved_up(descriptor, preferred):
    """To a high number that is free. It does without `fcntl`, which is no part of Python itself."""
    for number in (lowest + above for lowest in preferred for above in range(_LOOKS)):
        try:
            os.fstat(number)
            continue  # Somebody has it.
        except OSError:
            pass
        try:
            os.dup2(descriptor, number, inheritable=False)
        except OSError:
            continue  # It is above the limit of this process.
        os.close(descriptor)
        return number
    return descriptor


def load(name):
    """A module of the launcher's: its directory is not on the script's path."""
    # What importlib.util has from there, without what it imports for others.
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import spec_from_file_location

    spec = spec_from_file_location(name, os.path.join(os.path.dirname(__file__), name + ".py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _read(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 65536).decode("utf-8", "replace")
    finally:
        os.close(descriptor)


def _write(path, text):
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
