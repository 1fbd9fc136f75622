"""What Slack sends, as far as we read it; everything else in it is ignored."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Payload(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class MessageEvent(_Payload):
    """`message` and `app_mention`; which keys are there differs by subtype."""

    type: str
    channel: str = ""
    channel_type: str = ""
    user: str = ""
    text: str = ""
    ts: str = ""
    thread_ts: str = ""
    subtype: str = ""
    bot_id: str = ""
    hidden: bool = False


class ChangeEvent(_Payload):
    """`message_changed` and `message_deleted`: what became of an earlier message."""

    class _Message(_Payload):
        ts: str = ""
        text: str = ""
        subtype: str = ""

    subtype: str = ""
    channel: str = ""
    deleted_ts: str = ""
    message: _Message = _Message()


class _Profile(_Payload):
    email: str = ""
    display_name: str = ""
    real_name: str = ""


class User(_Payload):
    """An account."""

    id: str
    team_id: str = ""
    name: str = ""
    deleted: bool = False
    is_bot: bool = False
    is_workflow_bot: bool = False
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    is_email_confirmed: bool = False
    profile: _Profile = _Profile()

    @property
    def is_guest(self) -> bool:
        """Whether the account sees only the channels it was put into."""
        return self.is_restricted or self.is_ultra_restricted

    @property
    def is_machine(self) -> bool:
        """Whether nobody reads through it."""
        return self.is_bot or self.is_workflow_bot or self.id == "USLACKBOT"


class UserGroup(_Payload):
    """A user group, such as @oncall; a disabled one has a moment of deletion."""

    id: str
    name: str = ""
    handle: str = ""
    date_delete: int = 0
    users: tuple[str, ...] = ()


class Conversation(_Payload):
    """A channel, group or direct message."""

    id: str
    name: str = ""
    is_im: bool = False
    is_private: bool = True
    is_mpim: bool = False
    is_archived: bool = False
    is_ext_shared: bool = False
    is_pending_ext_shared: bool = False


class StoredMessage(_Payload):
    """A message of a channel's history."""

    class Metadata(_Payload):
        """What our own messages carry."""

        event_type: str = ""
        event_payload: dict[str, Any] = Field(default_factory=dict)

    ts: str
    bot_id: str = ""
    metadata: Metadata = Metadata()


class Click(_Payload):
    """`block_actions`, as far as the buttons of ours go."""

    class _Id(_Payload):
        id: str = ""

    class _Action(_Payload):
        class _Option(_Payload):
            value: str = ""

        action_id: str = ""
        value: str = ""
        action_ts: str = ""
        selected_option: _Option = _Option()
        selected_conversation: str = ""

    class _Container(_Payload):
        message_ts: str = ""
        thread_ts: str = ""
        channel_id: str = ""
        is_ephemeral: bool = False

    user: _Id = _Id()
    channel: _Id = _Id()
    container: _Container = _Container()
    trigger_id: str = ""
    response_url: str = ""
    actions: tuple[_Action, ...] = ()

    @property
    def action(self) -> _Action:
        """The button that was pressed."""
        return self.actions[0] if self.actions else self._Action()


class Shortcut(_Payload):
    """`shortcut` and `message_action`; only the latter has a channel and a message."""

    class _Id(_Payload):
        id: str = ""

    class _Message(_Payload):
        ts: str = ""
        thread_ts: str = ""
        text: str = ""

    user: _Id
    trigger_id: str
    response_url: str = ""
    channel: _Id = _Id()
    message: _Message = _Message()


class Submission(_Payload):
    """`view_submission`: a form that was sent."""

    class _User(_Payload):
        id: str

    user: _User
    view: dict[str, Any]


class Command(_Payload):
    """A slash command."""

    command: str
    text: str = ""
    user_id: str
    channel_id: str
    trigger_id: str = ""
    response_url: str = ""
