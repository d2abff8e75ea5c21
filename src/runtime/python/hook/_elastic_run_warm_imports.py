"""Imports modules ahead of the workers, and finds those that each worker must import by itself."""
import os
import sys

from _elastic_run_warm_environment import StandIns, noting, value_of
from _elastic_run_warm_learned import LASTING, PLACE, is_in_library, library_directories, script_directory
from _elastic_run_warm_traces import HasTarget, OutlivesFork, TemporaryNames, has_children, is_unnoticed, targets

_NOT_TO_FORK = frozenset(
    """comet_ml cupy grpc jax jaxlib neptune pyspark ray tensorflow tensorrt wandb zmq""".split()
)
"""Packages that do not bear it that their process is forked."""

_NEVER_AHEAD = frozenset("horovod mpi4py pycuda".split())
"""Packages that take something when they are imported which the worker that still runs may hold."""

_HARMLESS_DEVICES = frozenset(["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"])


class Refusal(Exception):
    """Why this process cannot start workers. `leave_out`: it could without these modules, which had set `sets`."""

    def __init__(self, reason, leave_out=(), sets=()):
        Exception.__init__(self, reason)
        self.leave_out = list(leave_out)
        self.sets = list(sets)


class _LeftOut(BaseException):
    """Ends the import of all that needs a module which is left to the workers: it would be another without it."""


class Watched:
    """Imports modules, and notes which of them cannot be imported ahead.

    What a module does is its own, not that of those which import it; but they fall with it."""

    def __init__(self, order, is_library, trials):
        self.trials = trials
        """None: what must be left out is refused, and not found out in forks."""
        self.found = {"leaveOut": [], "sets": []}
        """What must be left out, besides what was known."""
        self.left_out = _causes(order["leaveOut"])
        """By module: which one keeps it from being imported ahead, what that one does, and whether a process that is
        not forked any more may import it ahead."""
        self.is_alone = False
        """This process becomes the worker of one local rank, and is not forked any more."""
        self.reads = {}
        """What modules have read of that worker's place."""
        self.blamed = {}
        """What has come to them here."""
        self.place = order["place"]
        self.stand_ins = StandIns(order["sets"])
        self.sets = {}
        self.users = frozenset(order["users"])
        self.changed_from = {one["from"]: one["changed"] for one in order["environments"]}
        self.is_library = is_library
        self.libraries = library_directories()
        self.own = script_directory()
        self.under_way = []
        self.suspicions = []
        """Of what modules under way have made, and may have taken away when they are imported: whose, a test, words."""
        self.begin()

    def begin(self):
        self.descriptors = targets()
        self.threads = set(os.listdir("/proc/self/task"))
        self.has_children = False
        self.left = []

    def go_alone(self, order):
        """From now on this process is not forked: only what others would notice is left out."""
        self.is_alone = True
        self.left_out = _causes(order["leaveOut"])
        self.stand_ins.values.clear()
        self.stand_ins.know(order["sets"])
        self.place = list(order["place"])
        os.environ.update(order["place"])
        self.begin()

    def import_ahead(self, names):
        """Returns the files that are imported now. Throws a `Refusal` if something must be left out."""
        own = self.own
        has_own = not getattr(sys.flags, "safe_path", False)
        if has_own:
            # A library may look for a module of the user's.
            sys.path.insert(0, own)
        self.run(names)
        if self.trials is not None:
            self.trials.end()
            self.trials = None
        if has_own and own in sys.path:
            # Libraries may have added others.
            sys.path.remove(own)
        if self.blamed:
            raise self.refusal()
        # What Python remembers of the user's directories may be outdated when a worker starts.
        libraries = library_directories()
        for entry in list(sys.path_importer_cache):
            if not (os.path.realpath(entry) + os.sep).startswith(libraries):
                del sys.path_importer_cache[entry]
        origins = [getattr(getattr(module, "__spec__", None), "origin", None) for module in list(sys.modules.values())]
        return {origin for origin in origins if isinstance(origin, str) and os.path.isabs(origin)}

    def run(self, names):
        import importlib._bootstrap as bootstrap

        if "tempfile" in names:
            # It is watched from the beginning.
            self.import_one("tempfile")
        usual = bootstrap._load_unlocked
        kind = type(os.environ)
        bootstrap._load_unlocked = lambda spec: self.load(spec, usual)
        os.environ.__class__ = noting(self)
        listed = list(self.listed(names))
        try:
            # Names are in the order in which their imports were complete: each package comes after those that it needs.
            for _, name, expected in listed:
                if "." not in name:
                    self.problem_here(name, expected)
            for index, name, expected in listed:
                problem = self.problem_here(name, expected)
                if problem is not None:
                    self.left.append([index, problem])
        finally:
            self.stand_ins.put({})
            os.environ.__class__ = kind
            bootstrap._load_unlocked = usual
            if "tempfile" in sys.modules:
                sys.modules["tempfile"]._name_sequence = None

    def refusal(self):
        causes = ["%s %s" % cause[:2] for cause in dict.fromkeys(self.blamed.values())]
        leave_out = [_left(name, cause) for name, cause in self.blamed.items()]
        sets = [
            {"variable": variable, "value": value, "alone": self.cause_of(name)[2]}
            for variable, (name, value) in self.sets.items()
            if self.cause_of(name) is not None
        ]
        return Refusal("; ".join(causes), leave_out, sets)

    def listed(self, names):
        """With the digests of what had been changed in the environment by then."""
        expected = {}
        for index, name in enumerate(names):
            expected = self.changed_from.get(index, expected)
            yield index, name, expected

    def problem_here(self, name, expected):
        """Imports it, unless something is against it that is no cause for others to be left out: then says what."""
        if name in sys.modules or self.cause_of(name) is not None:
            return None
        package = name.partition(".")[0]
        cause = self.problem_of_package(package)
        if cause is not None:
            return "it %s" % cause[1]
        if not self.is_library(package):
            return None
        self.stand_ins.put(expected)
        variable = self.stand_ins.unlike(expected, self.sets)
        if variable is not None:
            return "imported after %s was changed" % variable
        self.try_import(name)
        return None

    def try_import(self, name):
        """In a fork, if there are trials: what must be left out ends it, and is known in the process before it."""
        trials = self.trials
        while trials is not None and self.cause_of(name) is None:
            failure = trials.begin()
            if failure is None:
                # The main thread's number is that of its process.
                self.threads = set(os.listdir("/proc/self/task"))
                break
            if failure:
                self.adopt(failure)
            elif trials.is_each:
                self.adopt({"leaveOut": [_left(name, (name, "ends its process", False))], "sets": []})
                trials.is_each = False
            else:
                # One of the imports since has ended it.
                trials.is_each = True
        if self.cause_of(name) is not None:
            return
        self.import_one(name)
        if trials is not None and self.blamed:
            refusal = self.refusal()
            trials.fail(refusal.leave_out, refusal.sets)

    def adopt(self, failure):
        """From now on this is left out."""
        for key, found in failure.items():
            self.found[key].extend(found)
        self.left_out.update(_causes(failure["leaveOut"]))
        self.stand_ins.know(failure["sets"])

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
        cause = self.problem_of_package(package)
        if cause is not None:
            return cause
        if isinstance(spec.origin, str) and os.path.isabs(spec.origin):
            if not is_in_library(spec.origin, self.libraries, self.own):
                return name, "is the user's own", False
            if package in self.users:
                return name, "is another than the worker's", False
        return None

    def problem_of_package(self, package):
        if package in _NEVER_AHEAD:
            return package, "is for one process at a time", False
        if package in _NOT_TO_FORK and not self.is_alone:
            return package, "does not bear a fork", True
        return None

    def leave(self, names, cause):
        for name in names:
            if name not in self.left_out:
                self.blamed.setdefault(name, cause)

    def blame(self, what, alone=False):
        """Blames the module whose import is under way, and so those that wait for it."""
        if self.under_way:
            self.leave(list(self.under_way), (self.under_way[-1], what, alone))

    def read(self, key):
        if self.is_alone and key in LASTING:
            self.reads[key] = value_of(key)
        elif key in PLACE:
            self.blame("reads %s" % key, key in LASTING)

    def suspect(self, is_so, what, alone=False):
        if self.under_way:
            self.suspicions.append((list(self.under_way), is_so, what, alone))

    def judge(self, name):
        """Called at the end of its import: what it has made may be gone."""
        own = [one for one in self.suspicions if one[0][-1] == name]
        self.suspicions = [one for one in self.suspicions if one[0][-1] != name]
        for names, is_so, what, alone in own:
            if is_so():
                self.leave(names, (name, what, alone))

    def look_around(self):
        """What a process must have for itself is no worker's if the helper has made it."""
        before, self.descriptors = self.descriptors, targets()
        for descriptor, target in self.descriptors.items() - before.items():
            alone = is_unnoticed(descriptor, target)
            if target not in _HARMLESS_DEVICES and not (alone and self.is_alone):
                kind = target if target.startswith("/") else "a " + target.partition(":")[0]
                self.suspect(HasTarget(descriptor, target), "leaves %s open" % kind, alone)
        if not self.is_alone:
            for thread in set(os.listdir("/proc/self/task")) - self.threads:
                self.threads.add(thread)
                self.suspect(OutlivesFork(thread), "starts a thread", True)
        if not self.has_children and has_children():
            # If others start processes as well, that shows once this module is left out.
            self.has_children = True
            self.suspect(self.still_has_children, "starts a process")
        tempfile = sys.modules.get("tempfile")
        if tempfile is not None and not isinstance(tempfile._name_sequence, TemporaryNames):
            tempfile._name_sequence = TemporaryNames(self)

    def still_has_children(self):
        self.has_children = has_children()
        return self.has_children


def _left(name, cause):
    root, what, alone = cause
    return {"module": name, "root": root, "what": what, "alone": alone}


def _causes(left_out):
    return {one["module"]: (one["root"], one["what"], one["alone"]) for one in left_out}


