"""A directory of checkpoints: its files, and which round began from which file."""
from __future__ import annotations

import json
import math
import os
from typing import NamedTuple, Optional, Sequence

from ._files import delete, make_directory, sync_directory, write_durably
from ._order import Claim, File, Token, claim_name, parse_checkpoint, parse_claim, parse_temporary
from ._order import temporary_name

_CLAIMS_KEPT = 64
"""Older ones are no longer needed."""


class Listing(NamedTuple):
    """The content of a directory at one moment."""

    files: Sequence[File]
    claims: Sequence[Token]
    """From their names only, oldest first."""
    temporaries: Sequence[tuple[Token, str]]
    """Unfinished files of living and dead writers."""

    def highest_token(self) -> Optional[Token]:
        return max([*(file.token for file in self.files), *self.claims], default=None)

    def leftovers(self, writer: Token) -> list[str]:
        """What unfinished saves and long past rounds left behind."""
        unfinished = [name for token, name in self.temporaries if token < writer]
        old = [token for token in self.claims[:-_CLAIMS_KEPT] if token < writer]
        return [*unfinished, *map(claim_name, old)]


def list_directory(directory: str) -> Listing:
    """One that does not exist yet is empty."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        names = []
    files = [file for file in map(parse_checkpoint, names) if file is not None]
    claims = sorted(token for token in map(parse_claim, names) if token is not None)
    temporaries = [
        (token, name) for name in names for token in [parse_temporary(name)] if token is not None
    ]
    return Listing(files, claims, temporaries)


def read_claims(directory: str, tokens: Sequence[Token]) -> list[Claim]:
    """One that was deleted meanwhile, or cannot be read, keeps its token, without a base."""
    return [_read_claim(directory, token) for token in tokens]


def _read_claim(directory: str, token: Token) -> Claim:
    try:
        with open(os.path.join(directory, claim_name(token)), encoding="utf-8") as file:
            fields = json.load(file)
        base, claimed_at = fields["base"], float(fields["claimedAt"])
        if base is None or isinstance(base, str):
            return Claim(token, base, claimed_at)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return Claim(token, None, math.nan)


def claim_round(directory: str, claim: Claim, unique: str) -> None:
    """Writes a round's claim, whole or not at all, unless another worker of the round was first."""
    name = claim_name(claim.token)
    temporary = os.path.join(directory, temporary_name(name, unique))
    fields = {
        "version": 1,
        **claim.token._asdict(),
        "base": claim.base,
        "claimedAt": claim.claimed_at,
    }
    make_directory(directory)
    try:
        write_durably(temporary, [f"{json.dumps(fields)}\n".encode()])
        os.link(temporary, os.path.join(directory, name))
        sync_directory(directory)
    except FileExistsError:
        pass
    finally:
        delete(temporary)
