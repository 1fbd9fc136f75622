"""`zhixing memory`: what is remembered of somebody's conversations, and its end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from bot.assembly import build_turn_store
from bot.bootstrap import open_state
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, JsonOption
from bot.commands.output import print_json, print_notice, print_result
from bot.memory.memory_texts import get_memory_texts
from bot.memory.recollection import Recollection, name_asker
from bot.memory.turns import Remembered, Turn, TurnStore
from knowledge.readers import Reader, resolve_reader

ThreadOption = Annotated[
    str, typer.Option("--thread", help="This conversation alone, as `memory show` names it.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Don't ask back.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    memory = typer.Typer(help="What is remembered of conversations.", no_args_is_help=True)
    app.add_typer(memory, name="memory")

    @memory.command()
    def show(context: typer.Context, as_: AsOption = None, as_json: JsonOption = False) -> None:
        """Show what is remembered of somebody, as far as they may read it today."""
        shown, hidden = run(_load(get_context(context), as_))
        if as_json:
            print_json({"turns": [_to_json(one) for one in shown], "hidden": hidden})
            return
        texts = get_memory_texts("en")
        lines = [_describe(one) for one in shown]
        lines += [texts.hidden.format(count=hidden)] if hidden else []
        print_result("\n".join(lines) or texts.nothing)

    @memory.command()
    def forget(
        context: typer.Context,
        as_: AsOption = None,
        thread: ThreadOption = "",
        *,
        yes: YesOption = False,
        as_json: JsonOption = False,
    ) -> None:
        """Forget what somebody said: everywhere, or in one conversation."""
        ours, texts = get_context(context), get_memory_texts("en")
        if not yes:
            found = run(_count(ours, as_, thread))
            print_notice(f"{texts.count(found)} will be forgotten; this can't be undone.")
            typer.confirm("Forget it?", abort=True, err=True)
        gone = run(_forget(ours, as_, thread))
        if as_json:
            print_json(
                {"turns": gone.turns, "summaries": gone.summaries, "conversations": gone.threads}
            )
        else:
            print_result(texts.describe_forgotten(gone))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    reader: Reader
    turns: TurnStore
    recollection: Recollection


@asynccontextmanager
async def _open(context: CommandContext, as_: str | None) -> AsyncIterator[_Opened]:
    async with open_state(context.load_settings(), context.clock) as state:
        turns = build_turn_store(state.settings, state.database)
        yield _Opened(
            reader=await resolve_reader(state.registry, as_=as_),
            turns=turns,
            recollection=Recollection(turns, state.ledger, context.clock),
        )


async def _load(context: CommandContext, as_: str | None) -> tuple[list[Turn], int]:
    async with _open(context, as_) as opened:
        return await opened.recollection.list_own(opened.reader)


async def _count(context: CommandContext, as_: str | None, thread: str) -> Remembered:
    async with _open(context, as_) as opened:
        return await opened.turns.count(name_asker(opened.reader), thread)


async def _forget(context: CommandContext, as_: str | None, thread: str) -> Remembered:
    async with _open(context, as_) as opened:
        return await opened.turns.forget(name_asker(opened.reader), thread)


def _to_json(turn: Turn) -> dict[str, object]:
    return {
        "id": turn.turn_id,
        "thread": turn.thread,
        "at": turn.at.isoformat(),
        "question": turn.question,
        "answer": turn.answer,
        "passages": list(turn.passages),
        "is_private": turn.is_private,
        "is_summary": turn.is_summary,
    }


def _describe(turn: Turn) -> str:
    said = " ".join(turn.answer.split()) if turn.is_summary else turn.question
    return f"{turn.thread}  {turn.at:%Y-%m-%d %H:%M}  {'(in short) ' * turn.is_summary}{said}"
