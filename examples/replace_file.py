"""Replaces a file in one step, so that a crash or a power failure leaves the old one or the new one."""
import contextlib
import os
import uuid


def replace_file(path, write):
    """`write` gets the new file, opened for bytes. Where it raises, the old file stays, and nothing else."""
    # A name that nobody else writes: a process of an earlier round may not have heard yet that it is over.
    temporary = f"{path}.{uuid.uuid4().hex}.new"
    try:
        with open(temporary, "xb") as file:
            write(file)
            file.flush()
            # Before it gets its name: that could reach the disk first.
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise
    sync_folder(os.path.dirname(path) or ".")


def sync_folder(path):
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
