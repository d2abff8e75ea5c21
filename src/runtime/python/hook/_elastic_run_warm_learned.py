"""What a worker has imported, as a later one can import it ahead: docs/warm-restarts.md."""
import json
import os
import sys

PLACE = frozenset(
    """RANK LOCAL_RANK GROUP_RANK ROLE_RANK ROLE_NAME WORLD_SIZE LOCAL_WORLD_SIZE GROUP_WORLD_SIZE ROLE_WORLD_SIZE
    MASTER_ADDR MASTER_PORT TORCHELASTIC_RESTART_COUNT TORCHELASTIC_ERROR_FILE ELASTIC_RUN_CHANNEL ELASTIC_RUN_ROUND
    ELASTIC_RUN_HOOK ELASTIC_RUN_INSTANCE""".split()
)
"""What differs between workers: a module that reads one of these while it is imported cannot be imported for all."""

LASTING = frozenset(
    """RANK LOCAL_RANK GROUP_RANK ROLE_RANK ROLE_NAME WORLD_SIZE LOCAL_WORLD_SIZE GROUP_WORLD_SIZE
    ROLE_WORLD_SIZE""".split()
)
"""Those of them that usually stay in the next round."""

_LIBRARY_FOLDERS = ("site-packages", "dist-packages")


def learned():
    """The modules that this process has imported from Python's own libraries, in the order of their import."""
    libraries = library_directories()
    own = script_directory()
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
    libraries = library_directories()
    own = script_directory()
    found = set()
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if getattr(spec, "has_location", False) and not is_in_library(spec.origin, libraries, own):
            found.add(name.partition(".")[0])
    return sorted(found - {"__main__", "sitecustomize"})


def _runs(modules, environments):
    """From which module on the environment had been changed in another way."""
    runs = []
    newest = {}
    for index, name in enumerate(modules):
        changed = digests(environments[name]) if name in environments else newest
        if changed != newest:
            runs.append({"from": index, "changed": changed})
            newest = changed
    return runs


def digests(changed):
    """What differs between workers is not looked at."""
    return {name: digest(value) for name, value in changed.items() if name not in PLACE}


def digest(value):
    """Values may be secrets; -1: there is none any more."""
    from binascii import crc32

    return -1 if value is None else crc32(os.fsencode(value))


def _arguments():
    if hasattr(sys, "orig_argv"):
        return sys.orig_argv[1:]
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(part) for part in file.read().split(b"\0")[1:-1]]


def library_directories():
    standard = os.path.dirname(os.__file__)
    others = [entry for entry in sys.path if os.path.basename(entry) in _LIBRARY_FOLDERS]
    return tuple(os.path.realpath(entry) + os.sep for entry in [standard] + others)


def script_directory():
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
    return is_in_library(spec.origin, libraries, own)


def is_in_library(origin, libraries, own):
    if not isinstance(origin, str):
        return False
    path = os.path.realpath(origin)
    found = [library for library in libraries if path.startswith(library)]
    if not found:
        return False
    # A script that lies in a library itself has its modules beside it.
    is_beside = path.startswith(own + os.sep) and any(own.startswith(library) for library in found)
    return not is_beside


class LibraryTest:
    """Whether a package is found in Python's own libraries, and nowhere else first: the names may come from another node."""

    def __init__(self, path, own):
        self.path = path
        self.own = own
        self.libraries = library_directories()
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
        return any(is_in_library(place, self.libraries, self.own) for place in places)
