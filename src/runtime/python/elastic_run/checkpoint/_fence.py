"""Keeps out the workers of older rounds, and records the run's rounds."""
from __future__ import annotations

import time
from typing import Collection, NamedTuple, Optional, Sequence

from .._errors import warn, words
from ._cadence import mean_time_between_interruptions
from ._errors import superseded
from ._listing import Listing, claim_round, list_directory, read_claims
from ._order import Claim, Token, load_order, parse_checkpoint


class Place(NamedTuple):
    """Who writes where."""

    directory: str
    token: Token
    is_shared: bool
    """All workers of the round have this token, so that one worker's load can bind the others."""
    unique: str
    """Hexadecimal digits that no other writer uses."""


class Fence:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._has_begun = False
        self._base: Optional[str] = None  # The file from which this worker began.
        self._rounds: Sequence[Claim] = ()  # Those of this start of the run, oldest first.

    def refuse_if_superseded(self, listing: Listing) -> None:
        """Raises CheckpointError where a newer round has written to the directory."""
        highest = listing.highest_token()
        if highest is not None and highest > self._place.token:
            raise superseded(self._place.directory, highest, self._place.token)

    def settle(self, base: Optional[str], damaged: Collection[str], claims: bool) -> bool:
        """Decides that this worker goes on from `base`, and with `claims` its whole round. Returns
        whether it may: not where something newer appeared meanwhile, or where another worker of the
        round was first with another file."""
        self._has_begun, self._base = True, base
        if not claims:
            return True
        listing = list_directory(self._place.directory)
        if self._place.token not in listing.claims:
            if self._newest(listing, damaged) != base:
                return False
            self._claim(base)
        own = [claim for claim in self._read_rounds() if claim.token == self._place.token]
        if not own or own[0].base == base:
            return True
        file = None if base is None else parse_checkpoint(base)
        return file is not None and file.token == self._place.token

    def claim_once(self, listing: Listing) -> None:
        """Claims the round for a worker that saves without having loaded."""
        if self._place.token not in listing.claims:
            self._claim(self._base if self._has_begun else self._newest(listing, ()))
            self._read_rounds()

    def mean_time_between_interruptions(self) -> float:
        """In seconds, from the rounds of this start of the run: each but the first follows an
        interruption."""
        if not self._rounds:
            return mean_time_between_interruptions(0, 0)
        observed = time.time() - self._rounds[0].claimed_at / 1000
        return mean_time_between_interruptions(observed, len(self._rounds) - 1)

    def _claim(self, base: Optional[str]) -> None:
        directory, token, _, unique = self._place
        claim = Claim(token, base, time.time_ns() // 1_000_000)
        try:
            claim_round(directory, claim, unique)
        except OSError as error:
            warn(
                f"This round could not be noted in {directory}, so that late saves of older rounds are"
                f" not recognised: {words(error)}"
            )

    def _read_rounds(self) -> Sequence[Claim]:
        directory, token = self._place.directory, self._place.token
        tokens = [one for one in list_directory(directory).claims if one.instance == token.instance]
        self._rounds = [claim for claim in read_claims(directory, tokens) if claim.is_readable]
        return self._rounds

    def _newest(self, listing: Listing, damaged: Collection[str]) -> Optional[str]:
        claims = read_claims(self._place.directory, listing.claims)
        order = load_order(listing.files, claims)
        return next((file.name for file in order if file.name not in damaged), None)
