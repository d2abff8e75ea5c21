"""Finds the newest checkpoint that verifies."""
from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple, Optional

from .._errors import warn, words
from ._errors import Changed, Damaged, none_usable
from ._files import read_checkpoint
from ._listing import Listing, read_claims
from ._order import File, load_order
from ._sharded import verify_directory
from ._state import decode


class Loaded(NamedTuple):
    """A checkpoint as it was saved."""

    path: Optional[str]
    """None where there was none, and `default` is the state."""
    step: int
    """Steps completed."""
    state: Any
    """None of a directory: read its files in `path`."""


def load_newest(
    directory: str, listing: Listing, damaged: set[str], torch_options: dict[str, Any]
) -> Optional[tuple[str, Loaded]]:
    """The name of the newest one and what it holds. Warns of each that cannot be used and adds its name
    to `damaged`. Raises Changed where a file was deleted between the listing and the reading."""
    order = load_order(listing.files, read_claims(directory, listing.claims))
    problems: list[str] = []
    for index, file in enumerate(order):
        path = os.path.join(directory, file.name)
        try:
            finish = _open(file, path, torch_options)
        except FileNotFoundError:
            raise Changed from None
        except (Damaged, OSError) as error:
            problem = words(error)
            problems.append(f"{file.name}: {problem}")
            if index + 1 < len(order) and file.name not in damaged:
                older = order[index + 1].name
                warn(f"The checkpoint {path} cannot be used: {problem}. Going back to {older}.")
            damaged.add(file.name)
            continue
        return file.name, finish()
    if problems:
        raise none_usable(directory, "; ".join(problems))
    return None


def _open(file: File, path: str, torch_options: dict[str, Any]) -> Callable[[], Loaded]:
    """Verifies it. The rest is done by what it returns, whose errors do not mean that it is damaged."""
    if file.name.endswith(".dir"):
        verify_directory(path)
        return lambda: Loaded(path, file.step, None)
    header, sections = read_checkpoint(path)

    def decoded() -> Loaded:
        state = decode(header.tree, header.sections, sections, torch_options)
        return Loaded(path, file.step, state)

    return decoded
