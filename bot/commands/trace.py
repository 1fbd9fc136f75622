"""`zhixing trace`: what happened with a question, step by step."""

from dataclasses import dataclass
from typing import Annotated

import typer

from bot.bootstrap import Product, open_product
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, JsonOption, LimitOption
from bot.commands.output import print_json, print_result
from bot.inbox.references import ChatQuestion, find_by_reference
from bot.trace import Trace, describe_missing
from bot.trace_view import TraceView, build_view
from knowledge.readers import Reader

IdArgument = Annotated[
    str | None,
    typer.Argument(help="A trace's id, or the reference given in a chat; none = the latest ones."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was looked for: a trace, a chat's question, or a chat's question with its trace."""

    view: TraceView | None
    question: ChatQuestion | None = None

    def to_json(self) -> dict[str, object]:
        """Return all of it for `--json`."""
        chat = {} if self.question is None else {"chat": self.question.to_json()}
        return {**(self.view.to_json() if self.view else {}), **chat}

    def describe(self) -> str:
        """Put all of it into words."""
        return "\n\n".join(one.describe() for one in (self.question, self.view) if one)


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


async def _load(context: CommandContext, trace_id: str, as_: str | None) -> Found:
    async with open_product(context.load_settings(), context.clock) as product:
        reader = await product.resolve_reader(as_=as_)
        found = await find_by_reference(product.state.database, trace_id)
        if found is None:
            return Found(view=await _view(product, trace_id, reader))
        if found.question.trace_id:
            # Whoever may not see the trace may not see the question either.
            view = await _view(product, found.question.trace_id, reader)
            return Found(view=view, question=found)
        if not reader.is_operator:
            raise describe_missing(trace_id)
        return Found(view=None, question=found)


async def _view(product: Product, trace_id: str, reader: Reader) -> TraceView:
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
