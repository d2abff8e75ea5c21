"""Starts a program, becomes the parent of all orphans below it, and reaps them.

Passes every signal on to the program, and ends with its exit code, or with 128 + n.
"""

import os
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Orphans would go to process 1 otherwise. Goes on without that where it cannot be."""
    try:
        import ctypes

        if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0:
            return
        why = "prctl failed"
    except (ImportError, OSError, AttributeError) as error:
        why = error
    print(f"elastic-run: orphaned processes are not reaped: {why}", file=sys.stderr)


def main(argv):
    adopt_orphans()
    every = signal.valid_signals()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, every)
    child = os.fork()
    if child == 0:
        # Python ignores these two.
        for one in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(one, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.execv(argv[0], argv)
    while True:
        received = signal.sigwait(every)
        if received != signal.SIGCHLD:
            os.kill(child, received)
            continue
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                os._exit(code if code >= 0 else 128 - code)


main(sys.argv[1:])
