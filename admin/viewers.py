"""Who looks: from a token or a session to a person, or the operator, as they are today."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from admin.keys import Grant, KeyKind, KeyStore, hash_secret
from bot.bootstrap import Product
from core.admin_settings import AdminSettings, ViewerSettings
from knowledge.people import Person
from knowledge.readers import Reader

LONGEST_SECRET = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Somebody who looks at the pages.

    Attributes:
        person: Whose rights they have; None = the operator of the command line, who reads all.
        is_operator: Sees that others asked, and how the sources stand.
        came_by: Hash of the token they came by.
        session: Of a browser; empty = the request itself carries the token.
    """

    person: Person | None
    is_operator: bool
    came_by: str
    session: str = ""

    @property
    def asker(self) -> str | None:
        """The name their own questions are kept under, as traces have it."""
        return None if self.person is None else self.person.person_id

    @property
    def name(self) -> str:
        """What the audit log calls them."""
        return self.asker or "operator"

    @property
    def form_token(self) -> str:
        """What forms of this session carry, which no other site can know."""
        return hmac.new(self.session.encode(), b"form", hashlib.sha256).hexdigest()


class Viewers:
    """Finds out who looks."""

    def __init__(self, product: Product, settings: AdminSettings, keys: KeyStore) -> None:
        self._product = product
        self._settings = settings
        self._keys = keys
        self._named: Mapping[str, ViewerSettings] = {
            hash_secret(one.token.get_secret_value()): one
            for one in settings.viewers.values()
            if one.token.get_secret_value()
        }

    async def find_by_token(self, token: str) -> Viewer | None:
        """Return whose token this is; None = nobody's, or somebody's who may do nothing today."""
        if not token or len(token) > LONGEST_SECRET:
            return None
        grant = self._find_named(token) or await self._keys.find(KeyKind.TOKEN, token)
        return None if grant is None else await self._build(grant)

    async def find_by_session(self, session: str) -> Viewer | None:
        """Return who opened a session; None = nobody, or their token holds no more."""
        if not session or len(session) > LONGEST_SECRET:
            return None
        grant = await self._keys.find(KeyKind.SESSION, session)
        if grant is None:
            return None
        named = self._named.get(grant.came_by)
        if named is not None:
            return await self._build(_grant(named, grant.came_by), session)
        is_alive = await self._keys.is_alive(grant.came_by)
        return await self._build(grant, session) if is_alive else None

    async def open_session(self, viewer: Viewer) -> str:
        """Return the secret of a new session."""
        return await self._keys.make(
            KeyKind.SESSION,
            person=viewer.asker or "",
            is_operator=viewer.is_operator,
            came_by=viewer.came_by,
            lasts=timedelta(seconds=self._settings.session_s),
        )

    async def end_session(self, viewer: Viewer) -> None:
        """Forget a viewer's session."""
        await self._keys.end(viewer.session)

    async def read_as(self, viewer: Viewer) -> Reader:
        """Return what a viewer may read now."""
        return await self._product.resolve_reader(as_=viewer.asker)

    def _find_named(self, token: str) -> Grant | None:
        """Compare with every token of the settings, each in the same time."""
        hashed, found = hash_secret(token), None
        for known, settings in self._named.items():
            if hmac.compare_digest(known, hashed):
                found = _grant(settings, known)
        return found

    async def _build(self, grant: Grant, session: str = "") -> Viewer | None:
        person = None
        if grant.person:
            directory = await self._product.state.directory.load()
            person = directory.find_person(grant.person)
            if person is None or not person.is_active:
                return None
        return Viewer(
            person=person,
            is_operator=grant.is_operator or person is None,
            came_by=grant.came_by,
            session=session,
        )


def _grant(settings: ViewerSettings, hashed: str) -> Grant:
    return Grant(person=settings.person, is_operator=settings.is_operator, came_by=hashed)
