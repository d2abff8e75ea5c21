"""Python imports this at its start, because the launcher puts its directory first on PYTHONPATH. It starts the
launcher's hook, and then runs the sitecustomize that Python would have found without it (docs/python.md).

Any Python may come here, also one that is too old for the hook: this file is understood by all of them.
"""
import os
import sys

# Python 2 empties a module that nothing refers to, while it runs.
_itself = sys.modules.pop("sitecustomize", None)
_here = os.path.dirname(__file__)

try:
    if os.environ.get("ELASTIC_RUN_HELPER_OF") and sys.version_info >= (3, 9):
        import _elastic_run_warm

        # Returns in a forked worker, which goes on as any other does.
        _elastic_run_warm.serve(os.environ["ELASTIC_RUN_HELPER_OF"])
        for _name in [name for name in sys.modules if name.startswith("_elastic_run_warm")]:
            del sys.modules[_name]
    if os.environ.get("ELASTIC_RUN_HOOK") and sys.version_info >= (3, 9):
        import _elastic_run_hook

        _elastic_run_hook.start(os.environ["ELASTIC_RUN_HOOK"])
except Exception:
    # A worker runs without its hook rather than not at all.
    pass

# The script sees the path that it would have without the hook.
sys.path[:] = [entry for entry in sys.path if entry != _here]

# If there is none, Python hears that, and goes on as it would have done.
import sitecustomize  # noqa: E402,F401
