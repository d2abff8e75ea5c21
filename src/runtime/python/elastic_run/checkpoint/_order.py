"""Which checkpoint is the newest, and who may write. Pure. The rules and their reasons are those of
elastic-run/checkpoint: docs/checkpoints.md."""
from __future__ import annotations

import re
from typing import Callable, Collection, NamedTuple, Optional, Sequence


class Token(NamedTuple):
    """One start of a run and a round of it, compared in this order; the higher one may write."""

    instance: int
    round: int


class File(NamedTuple):
    """A checkpoint by its name. Files are compared as tokens are, and then by their steps."""

    instance: int
    round: int
    step: int
    name: str

    @property
    def token(self) -> Token:
        return Token(self.instance, self.round)


class Claim(NamedTuple):
    """What a round began from."""

    token: Token
    base: Optional[str]
    """The name of the file that it loaded; None if there was none."""
    claimed_at: float
    """Milliseconds since 1970; NaN where the claim cannot be read: then its base means nothing."""

    @property
    def is_readable(self) -> bool:
        return self.claimed_at == self.claimed_at


_CHECKPOINT = re.compile(r"checkpoint-(\d{16})-(\d{10})-(\d{16})\.(?:ckpt|dir)")
_CLAIM = re.compile(r"round-(\d{16})-(\d{10})\.json")
_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]+\.tmp")


def checkpoint_name(token: Token, step: int, ending: str = "ckpt") -> str:
    return f"checkpoint-{token.instance:016}-{token.round:010}-{step:016}.{ending}"


def claim_name(token: Token) -> str:
    return f"round-{token.instance:016}-{token.round:010}.json"


def temporary_name(name: str, unique: str) -> str:
    """One that no other writer uses; `unique` are hexadecimal digits."""
    return f".{name}.{unique}.tmp"


def parse_checkpoint(name: str) -> Optional[File]:
    match = _CHECKPOINT.fullmatch(name)
    return None if match is None else File(int(match[1]), int(match[2]), int(match[3]), name)


def parse_claim(name: str) -> Optional[Token]:
    match = _CLAIM.fullmatch(name)
    return None if match is None else Token(int(match[1]), int(match[2]))


def parse_temporary(name: str) -> Optional[Token]:
    """The token of its writer."""
    match = _TEMPORARY.fullmatch(name)
    if match is None:
        return None
    file = parse_checkpoint(match[1])
    return parse_claim(match[1]) if file is None else file.token


def load_order(files: Sequence[File], claims: Sequence[Claim]) -> list[File]:
    """Newest first, without those that a stale writer added."""
    by_name = {file.name: file for file in files}
    is_set_aside = _set_aside_by(claims, by_name.get)
    return sorted((file for file in files if not is_set_aside(file)), reverse=True)


def files_to_delete(
    files: Sequence[File],
    claims: Sequence[Claim],
    keep: int,
    writer: Token,
    damaged: Collection[str],
) -> list[File]:
    """All but the newest `keep` usable ones, and none above the writer's token."""
    usable = [file for file in load_order(files, claims) if file.name not in damaged]
    if len(usable) < keep:
        return []
    kept = {file.name for file in usable[:keep]}
    return [file for file in files if file.name not in kept and file.token <= writer]


def _set_aside_by(
    claims: Sequence[Claim], file_of: Callable[[str], Optional[File]]
) -> Callable[[File], bool]:
    """A claim on a missing file no longer counts: an old round's state is better than none."""

    def is_set_aside(file: File) -> bool:
        for claim in claims:
            if not claim.is_readable or file.token >= claim.token:
                continue
            base = None if claim.base is None else file_of(claim.base)
            if claim.base is None or (base is not None and file > base):
                return True
        return False

    return is_set_aside
