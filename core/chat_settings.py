"""Settings of the chats the assistant is in."""

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from core.settings_section import Section

SlackAccount = Annotated[str, Field(pattern=r"^[UW][A-Z0-9]+$")]


class SlackSettings(Section):
    """A Slack workspace.

    Attributes:
        bot_token, app_token, signing_secret: Rather in the environment, as SLACK_BOT_TOKEN,
            SLACK_APP_TOKEN (Socket Mode) and SLACK_SIGNING_SECRET (HTTP).
        mode: `socket` needs no address of ours; `http` is for several replicas behind a balancer.
        base_url: Of the Web API.
        host, port, path: Where HTTP is taken.
        command: The slash command, as in the manifest.
        admins: Who may see how sources are kept in step and set how channels are answered:
            `user:ID`, `group:SOURCE/ID`.
        search_page_size: Results of the slash command shown at once.
        unknown_people: Whether accounts nobody knows get what is public, or a refusal.
        thread_follow_ups: Answer in threads the assistant was called into, without a new mention.
        mention_only_channels: Ids of channels where every question needs a mention all the same.
        answer_bots: Answer other bots that mention the assistant; they read what is public.
        match_email: Recognise people by the confirmed address of their account; False = by the
            ids of the directory alone.
        stream_answers: Show written answers while they are written.
        show_every_s: Least time between two of those changes to a message.
        suggested_questions: Offered to whoever opens the conversation with the assistant, four at
            most; empty = what it can do.
        people_to_call: Ids of the accounts that "ask a human" names, where a channel has none of
            its own.
        questions_per_person, questions_per_channel: So many may begin within `limit_window_s`, in
            all processes together; the others wait their turn. 0 = no limit.
        waiting_per_person, waiting_per_channel: So many may wait; more are refused. 0 = no limit.
        concurrent_questions: Questions worked on at once in one process; the others wait.
        members_fresh_s: How long members of a channel are believed without asking again.
        roster_fresh_s: The same of the workspace's accounts.
        hold_s: How long what was last known holds while Slack does not answer; then only what is
            public is said.
        call_timeout_s, answer_timeout_s, stop_timeout_s: Longest wait for one call, one answer,
            and for what is under way when the process is told to stop.
        rate_limit_retries: How often a call that Slack asked to wait is made again.
        ping_interval_s: How often the socket is tried; a dead one is noticed after four times.
        lease_s: Questions of a process that does not renew them for so long go to another.
        sweep_s: How often such questions are looked for.
    """

    bot_token: SecretStr = SecretStr("")
    app_token: SecretStr = SecretStr("")
    signing_secret: SecretStr = SecretStr("")
    mode: Literal["socket", "http"] = "socket"
    base_url: str = "https://slack.com/api/"
    host: str = "127.0.0.1"
    port: int = Field(default=3000, ge=0, le=65535)
    path: str = "/slack/events"
    command: str = "/kb"
    admins: tuple[str, ...] = ()
    search_page_size: int = Field(default=5, ge=1, le=10)
    unknown_people: Literal["public", "refuse"] = "public"
    thread_follow_ups: bool = True
    mention_only_channels: tuple[str, ...] = ()
    answer_bots: bool = False
    match_email: bool = True
    stream_answers: bool = True
    show_every_s: float = Field(default=1.0, ge=1.0)
    suggested_questions: tuple[str, ...] = Field(default=(), max_length=4)
    people_to_call: tuple[SlackAccount, ...] = Field(default=(), max_length=10)
    questions_per_person: int = Field(default=20, ge=0)
    questions_per_channel: int = Field(default=60, ge=0)
    limit_window_s: float = Field(default=60.0, gt=0)
    waiting_per_person: int = Field(default=20, ge=0)
    waiting_per_channel: int = Field(default=100, ge=0)
    concurrent_questions: int = Field(default=8, ge=1)
    members_fresh_s: float = Field(default=60.0, ge=0)
    roster_fresh_s: float = Field(default=300.0, ge=0)
    hold_s: float = Field(default=900.0, ge=0)
    call_timeout_s: float = Field(default=30.0, gt=0)
    answer_timeout_s: float = Field(default=120.0, gt=0)
    stop_timeout_s: float = Field(default=20.0, ge=0)
    rate_limit_retries: int = Field(default=10, ge=0)
    ping_interval_s: float = Field(default=5.0, gt=0)
    lease_s: float = Field(default=30.0, gt=0)
    sweep_s: float = Field(default=10.0, gt=0)

    @property
    def is_configured(self) -> bool:
        """Tell whether there is a workspace at all."""
        return bool(self.bot_token.get_secret_value())
