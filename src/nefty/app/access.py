"""Who may use the app: whoever has the link that the terminal shows, once; then a cookie.

A link's token is worth one session, and a new one is made when it is spent. A token that the user stated, for other
machines, stays valid until the server ends.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

from nefty.core.errors import InputError

SHORTEST = 16  # letters of a token that is stated
MOST = 64  # sessions; the oldest ends when one more begins


class Access:
    """The tokens and sessions of one server.

    Args:
        stated: token of the user's own; one-time tokens are made if not given.
        spent: called after a one-time token was used, when there is another one to show.
    """

    def __init__(self, stated: str | None = None, spent: Callable[[], object] = lambda: None) -> None:
        if stated is not None and len(stated) < SHORTEST:
            raise InputError(f"--token has {len(stated)} letters; give at least {SHORTEST}, which nobody can guess.")
        self._stated, self._spent = stated, spent
        self.token = stated or secrets.token_urlsafe(24)
        self._sessions: list[str] = []

    def redeem(self, token: str) -> str | None:
        """A new session for the token; None if it is not the one."""
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return None
        session = secrets.token_urlsafe(32)
        self._sessions = [*self._sessions, session][-MOST:]
        if self._stated is None:
            self.token = secrets.token_urlsafe(24)
            self._spent()
        return session

    def knows(self, session: str) -> bool:
        """Whether a session is one of this server's."""
        given = session.encode()
        return any(secrets.compare_digest(given, known.encode()) for known in self._sessions)
