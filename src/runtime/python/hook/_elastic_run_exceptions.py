"""Tells the exception that ends this process, and that of a thread, before anybody prints it (docs/python.md).

A script may put anything into `sys.excepthook`, look at what is there, or end the process in it. So nothing is put there:
Python raises an audit event before it calls that function.
"""
import os
import sys

_EVENT = "sys.excepthook"
_MOST_FRAMES = 100

_LONGEST_NAME = 200
_LONGEST_MESSAGE = 4000
_LONGEST_STACK = 30000
"""In characters."""


class _EventName:
    """A key of a dictionary that is called at each audit event. It is equal to none, and hears of the one that it is like.
    At all other events no Python code runs: they are many, and torch would compile it."""

    def __init__(self, heard):
        self._heard = heard

    def __hash__(self):
        return hash(_EVENT)

    def __eq__(self, other):
        if other == _EVENT:
            self._heard()
        return False


def watch(hook):
    """From now on leaves exceptions for the launcher. Returns what to call with the module `threading`."""
    from _thread import get_ident

    main = get_ident()
    pid = os.getpid()

    def is_ours(kind):
        # A forked child has its own end.
        return os.getpid() == pid and not issubclass(kind, (KeyboardInterrupt, SystemExit))

    def raised():
        try:
            if get_ident() != main or _has_frames() or not is_ours(sys.last_type):
                return
            # Python asks for more after an exception.
            asks = sys.flags.inspect or os.environ.get("PYTHONINSPECT") or hasattr(sys, "ps1")
            _leave(hook, None, not asks, sys.last_type, sys.last_value, sys.last_traceback)
        except Exception:
            pass

    def raised_in_thread(args):
        try:
            if is_ours(args.exc_type):
                name = getattr(args.thread, "name", "?")
                _leave(hook, str(name), False, args.exc_type, args.exc_value, args.exc_traceback)
        except Exception:
            pass

    sys.addaudithook({_EventName(raised): None}.get)
    return lambda threading: _watch_threads(threading, raised_in_thread)


def _has_frames():
    """Whether Python code runs: a library has called an extension that prints its error, and the script goes on."""
    try:
        # Above these functions.
        sys._getframe(3)
        return True
    except ValueError:
        return False


def _watch_threads(threading, raised):
    print_error = threading.excepthook

    def excepthook(args, /):
        raised(args)
        return print_error(args)

    if getattr(threading, "__excepthook__", None) is print_error:
        threading.__excepthook__ = excepthook
    threading.excepthook = excepthook


def _leave(hook, thread, *exception):
    """Leaves the newest exception; the one that ends the process stays. `thread`: its name, None for the main one."""
    if hook.is_ending or not hook.is_asked():
        return
    hook.is_ending = thread is None
    hook.replace("exception.json", _text_of(hook, thread, *exception))


def _text_of(hook, thread, ends, kind, error, traceback):
    """The exception as the launcher reads it, and whether the process ends because of it: a line of JSON."""
    import json

    pid = os.getpid()
    module = kind.__module__
    name = kind.__qualname__ if module in ("builtins", "__main__") else "%s.%s" % (module, kind.__qualname__)
    return "%s\n" % json.dumps(
        {
            "version": 1,
            "kind": "python",
            "pid": pid,
            "start_time": hook.start_time(pid),
            "thread": thread and thread[:_LONGEST_NAME],
            "ends": ends,
            "type": name[:_LONGEST_NAME],
            "message": _message_of(error)[:_LONGEST_MESSAGE],
            "stack": _stack_of(error, traceback)[:_LONGEST_STACK],
        }
    )


def _message_of(error):
    try:
        # Python prints the place of a syntax error as that of a frame.
        return str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:
        return "<exception str() failed>"


def _stack_of(error, traceback):
    """The frames as Python prints them, but the innermost first."""
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append((code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        frames.append((error.filename, error.lineno, "<module>"))
    return "".join('  File "%s", line %s, in %s\n' % frame for frame in reversed(frames[-_MOST_FRAMES:]))
