"""Who asks, and who else reads the reply: what the two may see, decided before any search."""

from dataclasses import dataclass, replace

from core.errors import SettingsError
from knowledge.access import OPERATOR, ReadableClasses
from knowledge.access_registry import AccessRegistry
from knowledge.memberships import Memberships
from knowledge.people import DIRECT_MESSAGE, Channel, DirectorySnapshot, Person, PersonId
from knowledge.readership import Audience, Readership, build_audience


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One question's rights.

    Attributes:
        asker: None for the operator.
        is_operator: The local operator on the command line, who reads everything.
        asker_readable: What the asker may read; what exceeds the audience goes to them privately.
        channel: None in a direct message and on the command line.
        audience_readable: What everybody who sees the reply may read.
        is_private: The asker alone sees the reply.
        inactive_listeners: People of the channel whose account is not active: they may read
            nothing, so nothing is said there until they are out of it. Ids, ascending.
        account: Name of an asker the directory does not know, such as `slack:U1`; else empty.
        bases: Knowledge bases and sources that are searched where they ask; empty = all.
    """

    asker: Person | None
    is_operator: bool
    asker_readable: ReadableClasses
    channel: Channel | None
    audience_readable: ReadableClasses
    is_private: bool
    inactive_listeners: tuple[str, ...] = ()
    account: str = ""
    bases: tuple[str, ...] = ()


async def resolve_reader(
    registry: AccessRegistry,
    *,
    as_: str | None = None,
    in_: str | None = None,
    memberships: Memberships | None = None,
) -> Reader:
    """Turn `--as` and `--in` into rights. For the command line only: no chat event may call it.

    Args:
        as_: Our id, a verified e-mail or `system:id`; None = the operator.
        in_: A channel's id or native id, or `dm`; None = private. Even the operator's reply in a
            channel is limited to what the channel may read.
        memberships: Asked first whether the groups of whoever listens are still theirs; None = the
            directory is believed as it is.

    Raises:
        SettingsError: Nobody, or more than one, goes by that name.
    """
    directory = (await registry.readership()).directory
    asker = None if as_ is None else _get_asker(directory, as_)
    channel = None
    if in_ is not None and in_ != DIRECT_MESSAGE:
        channel = _get_channel(directory, in_)
    readership = await _load_readership(registry, memberships, asker, channel)
    readable = OPERATOR if asker is None else readership.readable_by(asker)
    return _build_reader(readership, asker, channel, readable, is_operator=asker is None)


async def resolve_chat_reader(
    registry: AccessRegistry,
    *,
    asker: Person | None,
    account: str,
    channel: Channel | None,
    memberships: Memberships,
) -> Reader:
    """Return the rights of a chat event; nobody becomes the operator here.

    Args:
        registry: What may be read.
        asker: Who asks; None = somebody the directory does not know, who reads what is public.
        account: Their account, such as `slack:U1`.
        channel: Where they ask, as it is now; None = in a direct message.
        memberships: Asked first whether the groups of whoever listens are still theirs.
    """
    if channel is not None and asker is None:
        # The stranger listens as well.
        channel = replace(channel, has_external_member=True)
    readership = await _load_readership(registry, memberships, asker, channel)
    if asker is not None:
        return _build_reader(readership, asker, channel, readership.readable_by(asker))
    stranger = Audience(listeners=frozenset(), has_stranger=True)
    readable = readership.readable_by_audience(stranger)
    return _build_reader(readership, None, channel, readable, account=account)


async def _load_readership(
    registry: AccessRegistry,
    memberships: Memberships | None,
    asker: Person | None,
    channel: Channel | None,
) -> Readership:
    """Return who may read what, once the groups of whoever listens are confirmed."""
    readership = await registry.readership()
    if memberships is None or not memberships.has_sources:
        return readership
    listeners = _find_listeners(readership.directory, asker, channel)
    doubtful = await memberships.renew(listeners, asker=asker.person_id if asker else None)
    return (await registry.readership()).without(doubtful)


def _build_reader(
    readership: Readership,
    asker: Person | None,
    channel: Channel | None,
    readable: ReadableClasses,
    *,
    is_operator: bool = False,
    account: str = "",
) -> Reader:
    audience = readable if channel is None else readership.readable_in(channel, asker=asker)
    return Reader(
        asker=asker,
        is_operator=is_operator,
        asker_readable=readable,
        channel=channel,
        audience_readable=audience,
        is_private=channel is None,
        inactive_listeners=() if channel is None else readership.inactive_in(channel),
        account=account,
    )


def _find_listeners(
    directory: DirectorySnapshot, asker: Person | None, channel: Channel | None
) -> frozenset[PersonId]:
    if channel is not None:
        return build_audience(channel, directory, asker=asker).listeners
    return frozenset() if asker is None else frozenset({asker.person_id})


def _get_asker(directory: DirectorySnapshot, reference: str) -> Person:
    person = directory.find_person(reference)
    if person is None:
        raise SettingsError(
            f"{reference!r} is nobody the directory knows, or more than one person; "
            "give an id, a verified e-mail or `system:id` (zhixing directory import DIR)"
        )
    return person


def _get_channel(directory: DirectorySnapshot, reference: str) -> Channel:
    channel = directory.find_channel(reference)
    if channel is None:
        raise SettingsError(
            f"{reference!r} is no channel the directory knows, or more than one; give a channel's "
            f"id, its native id or {DIRECT_MESSAGE!r} (zhixing directory import DIR)"
        )
    return channel
