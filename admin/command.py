"""`zhixing admin`: where the pages are, and a fresh token to enter them with."""

from datetime import timedelta
from typing import Annotated

import typer

from bot.bootstrap import State, open_state
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, JsonOption
from bot.commands.output import print_json, print_result
from core.clock import SystemClock
from core.errors import SettingsError

HoursOption = Annotated[
    float, typer.Option("--hours", min=0.01, max=720, help="For how long the token holds.")
]
OperatorOption = Annotated[
    bool,
    typer.Option("--operator", help="With --as: they also see that others asked, not what."),
]
RevokeOption = Annotated[
    bool, typer.Option("--revoke", help="Let no token made here, and no browser, in any more.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def admin(
        context: typer.Context,
        as_: AsOption = None,
        operator: OperatorOption = False,  # noqa: FBT002 - typer's form of a switch
        hours: HoursOption = 12.0,
        revoke: RevokeOption = False,  # noqa: FBT002
        as_json: JsonOption = False,  # noqa: FBT002
    ) -> None:
        """Say where the pages are and make a token; `zhixing serve --role admin` serves them."""
        ours = get_context(context)
        if revoke:
            ended = run(_revoke(ours))
            if as_json:
                print_json({"revoked": ended})
            else:
                print_result(f"{ended} tokens and sessions hold no more")
            return
        lasts = timedelta(hours=hours)
        address, token = run(_make(ours, as_, lasts, is_operator=operator))
        if as_json:
            print_json({"address": address, "token": token, "hours": hours})
        else:
            print_result(f"{address}\ntoken, for {hours:g} hours: {token}")


async def _make(
    context: CommandContext, as_: str | None, lasts: timedelta, *, is_operator: bool
) -> tuple[str, str]:
    # Pages and server take long to load, and every other command starts without them.
    from admin.serving import build_address, make_token  # noqa: PLC0415

    settings = context.load_settings()
    async with open_state(settings, context.clock) as state:
        person = "" if as_ is None else await _find_person(state, as_)
        token = await make_token(
            state.database,
            person=person,
            is_operator=is_operator or not person,
            lasts=lasts,
        )
    return build_address(settings.admin, settings.admin.port), token


async def _find_person(state: State, reference: str) -> str:
    person = (await state.directory.load()).find_person(reference)
    if person is None or not person.is_active:
        raise SettingsError(
            f"{reference!r} is nobody the directory knows, or is not active; give an id, a "
            "verified e-mail or `system:id`"
        )
    return person.person_id


async def _revoke(context: CommandContext) -> int:
    from admin.keys import KeyStore  # noqa: PLC0415

    async with open_state(context.load_settings(), context.clock) as state:
        return await KeyStore(state.database, SystemClock()).end_all()
