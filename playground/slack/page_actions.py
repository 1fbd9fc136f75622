"""What people do on the workspace's page, each within what they see."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from playground.slack.features import COMMANDS
from playground.slack.people import People
from playground.slack.sight import Sight
from playground.slack.workspace import Json, Workspace

MOST_CHARS = 12_000
Action = Callable[[str, "Asked"], Awaitable[Json]]


class Asked:
    """What a page sent."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, name: str, *, most: int = MOST_CHARS) -> str:
        """Return a text; empty when it is not there."""
        value = self._values.get(name) or ""
        if not isinstance(value, str) or len(value) > most:
            raise LookupError(f"invalid_{name}")
        return value

    def choices(self, name: str) -> dict[str, Any]:
        """Return choices by path."""
        value = self._values.get(name) or {}
        if not isinstance(value, dict):
            raise LookupError(f"invalid_{name}")  # noqa: TRY004 - bad input, not a bug
        for one in value.values():
            _check_choice(one)
        return value

    def choice(self) -> Any:  # noqa: ANN401 - a text, several, or nothing
        """Return what was chosen."""
        value = self._values.get("choice")
        _check_choice(value)
        return value


class PageActions:
    """Does what a page asks for; a LookupError says by a code why it is not done."""

    def __init__(self, workspace: Workspace, people: People, sight: Sight) -> None:
        self._workspace = workspace
        self._people = people
        self._sight = sight
        self._actions: Mapping[str, Action] = {
            "say": self._say,
            "edit": self._edit,
            "delete": self._delete,
            "slash": self._slash,
            "press": self._press,
            "press_in_view": self._press_in_view,
            "submit": self._submit,
            "close": self._close,
            "shortcut": self._run_shortcut,
            "home": self._open_home,
            "join": self._join,
            "leave": self._leave,
        }

    async def run(self, name: str, user: str, asked: Asked) -> Json:
        """Do one thing as a person.

        Raises:
            LookupError: There is no such thing to do, or not for them.
        """
        action = self._actions.get(name)
        if action is None:
            raise LookupError("unknown_action")
        return await action(user, asked)

    async def _say(self, user: str, asked: Asked) -> Json:
        room = self._sight.find_room(user, asked.text("channel"))
        text, thread_ts = asked.text("text"), asked.text("thread")
        if not text.strip():
            raise LookupError("no_text")
        if room.is_archived:
            raise LookupError("is_archived")
        if thread_ts:
            self._sight.find_message(user, room.channel_id, thread_ts)
        message = self._people.say(user, room.channel_id, text, thread_ts=thread_ts)
        return {"ts": message.ts}

    async def _edit(self, user: str, asked: Asked) -> Json:
        room, text = self._sight.find_room(user, asked.text("channel")), asked.text("text")
        if not text.strip():
            raise LookupError("no_text")
        self._people.edit(user, room.channel_id, asked.text("ts"), text)
        return {}

    async def _delete(self, user: str, asked: Asked) -> Json:
        room = self._sight.find_room(user, asked.text("channel"))
        self._people.delete(user, room.channel_id, asked.text("ts"))
        return {}

    async def _slash(self, user: str, asked: Asked) -> Json:
        room, line = self._sight.find_room(user, asked.text("channel")), asked.text("line")
        if line.partition(" ")[0] not in {one["command"] for one in COMMANDS}:
            raise LookupError("unknown_command")
        return _confirm(await self._people.slash(user, room.channel_id, line) is not None)

    async def _press(self, user: str, asked: Asked) -> Json:
        message = self._sight.find_message(user, asked.text("channel"), asked.text("ts"))
        return _confirm(
            await self._people.interactions.press(
                user,
                message,
                asked.text("path"),
                asked.text("action_id"),
                asked.choice(),
                asked.choices("choices"),
            )
        )

    async def _press_in_view(self, user: str, asked: Asked) -> Json:
        view = self._sight.find_view(user, asked.text("view"))
        return _confirm(
            await self._people.interactions.press_in_view(
                user,
                view,
                asked.text("path"),
                asked.text("action_id"),
                asked.choice(),
                asked.choices("choices"),
            )
        )

    async def _submit(self, user: str, asked: Asked) -> Json:
        view = self._sight.find_view(user, asked.text("view"))
        done = await self._people.interactions.submit(user, view, asked.choices("choices"))
        if not done.errors:
            _confirm(done.reply is not None)
        return {"errors": dict(done.errors)}

    async def _close(self, user: str, asked: Asked) -> Json:
        view = self._sight.find_view(user, asked.text("view"))
        await self._people.interactions.close(user, view)
        return {}

    async def _run_shortcut(self, user: str, asked: Asked) -> Json:
        callback_id, interactions = asked.text("callback_id"), self._people.interactions
        if ts := asked.text("ts"):
            message = self._sight.find_message(user, asked.text("channel"), ts)
            return _confirm(await interactions.run_message_shortcut(user, message, callback_id))
        return _confirm(await interactions.run_shortcut(user, callback_id))

    async def _open_home(self, user: str, asked: Asked) -> Json:
        tab = asked.text("tab") or "home"
        self._people.open_home(user, tab="messages" if tab == "messages" else "home")
        return {}

    async def _join(self, user: str, asked: Asked) -> Json:
        channel = asked.text("channel")
        if not self._sight.is_joinable(user, channel):
            raise LookupError("channel_not_found")
        if user not in self._workspace.rooms[channel].members:
            self._people.join(user, channel)
        return {}

    async def _leave(self, user: str, asked: Asked) -> Json:
        room = self._sight.find_room(user, asked.text("channel"))
        if room.kind not in {"channel", "group"}:
            raise LookupError("cant_leave")
        self._people.leave(user, room.channel_id)
        return {}


def _check_choice(value: object) -> None:
    parts = value if isinstance(value, list) else [value]
    if not all(one is None or (isinstance(one, str) and len(one) <= MOST_CHARS) for one in parts):
        raise LookupError("invalid_choice")


def _confirm(is_acknowledged: bool) -> Json:  # noqa: FBT001 - the only argument
    if not is_acknowledged:
        raise LookupError("app_did_not_answer")
    return {}
