"""`zhixing trace`: what happened with a question, step by step."""

from typing import Annotated

import typer

from bot.bootstrap import Product, open_product
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, JsonOption, LimitOption
from bot.commands.output import print_json, print_result
from bot.trace import Trace
from bot.trace_view import TraceView, build_view

IdArgument = Annotated[str | None, typer.Argument(help="A trace's id; none = the latest ones.")]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def trace(
        context: typer.Context,
        trace_id: IdArgument = None,
        as_: AsOption = None,
        limit: LimitOption = 20,
        as_json: JsonOption = False,
    ) -> None:
        """Explain an answer: route, searches with scores, evidence, what was removed, times."""
        ours = get_context(context)
        if trace_id is None:
            recent = run(_list(ours, as_, limit))
            if as_json:
                print_json({"traces": [summarise(one) for one in recent]})
            else:
                print_result("\n".join(map(describe_line, recent)) or "no traces yet")
            return
        view = run(_load(ours, trace_id, as_))
        if as_json:
            print_json(view.to_json())
        else:
            print_result(view.describe())


async def _list(context: CommandContext, as_: str | None, limit: int) -> list[Trace]:
    async with open_product(context.load_settings(), context.clock) as product:
        asker = await _asker_of(product, as_)
        return await product.state.traces.list_recent(limit=limit, asker=asker)


async def _load(context: CommandContext, trace_id: str, as_: str | None) -> TraceView:
    async with open_product(context.load_settings(), context.clock) as product:
        reader = await product.resolve_reader(as_=as_)
        trace = await product.state.traces.get(trace_id)
        return await build_view(product.store, product.state.ledger, trace, reader)


async def _asker_of(product: Product, as_: str | None) -> str | None:
    reader = await product.resolve_reader(as_=as_)
    return reader.asker.person_id if reader.asker else None


def summarise(trace: Trace) -> dict[str, object]:
    """Return one line of the list for `--json`."""
    return {
        "trace_id": trace.trace_id,
        "at": trace.at.isoformat(),
        "asker": trace.asker,
        "place": trace.place,
        "question": trace.question,
        "outcome": trace.outcome,
    }


def describe_line(trace: Trace) -> str:
    """Put one trace of the list into a line."""
    who = trace.asker or "operator"
    when = f"{trace.at:%m-%d %H:%M}"
    return f"{trace.trace_id}  {when}  {who:16} {trace.outcome:10} {trace.question}"
