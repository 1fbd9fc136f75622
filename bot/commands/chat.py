"""`zhixing chat`: a conversation in the terminal."""

import asyncio
from uuid import uuid4

import typer

from bot.bootstrap import open_product
from bot.commands.ask import describe
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, InOption
from bot.commands.output import print_notice, print_result
from bot.index_switch import require_index

PROMPT = "› "
LEAVE = frozenset({"/quit", "/exit", "exit", "quit", "退出"})


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def chat(context: typer.Context, as_: AsOption = None, in_: InOption = None) -> None:
        """Talk in the terminal; follow-ups are understood. /quit or Ctrl-D ends."""
        run(_talk(get_context(context), as_, in_))


async def _talk(context: CommandContext, as_: str | None, in_: str | None) -> None:
    thread = f"console-{uuid4().hex[:8]}"
    async with open_product(context.load_settings(), context.clock) as product:
        await require_index(product)
        print_notice("Ask in Chinese or English; /quit ends. 直接提问，/quit 退出。")
        while (question := await _read_line()) is not None:
            if question:
                # Rights may change between two questions.
                reader = await product.resolve_reader(as_=as_, in_=in_)
                answer = await product.conversation.ask(question, reader, thread=thread)
                print_result(describe(answer) + "\n")


async def _read_line() -> str | None:
    try:
        line = (await asyncio.to_thread(input, PROMPT)).strip()
    except EOFError:
        return None
    return None if line in LEAVE else line
