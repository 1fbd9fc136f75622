"""`zhixing ask`: one question, or a file of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.bootstrap import Product, open_product
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOption, InOption, JsonOption
from bot.commands.output import print_json, print_result, show_address
from bot.index_switch import require_index
from core.errors import SettingsError
from core.messages import Answer, Outcome

QuestionArgument = Annotated[str | None, typer.Argument(help="The question.")]
ThreadOption = Annotated[
    str, typer.Option("--thread", help="Go on in this thread: follow-ups are understood.")
]
BatchOption = Annotated[
    Path | None,
    typer.Option(
        "--batch", help='JSON lines {"id","asker","where","turns"} in, answers as JSON lines out.'
    ),
]


class BatchQuestion(BaseModel):
    """A line of a batch; other keys are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    asker: str | None = None
    where: str | None = None
    turns: tuple[str, ...] = Field(min_length=1)


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def ask(
        context: typer.Context,
        question: QuestionArgument = None,
        as_: AsOption = None,
        in_: InOption = None,
        thread: ThreadOption = "",
        batch: BatchOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Answer from the knowledge base, with sources."""
        ours = get_context(context)
        if batch is not None:
            run(_ask_batch(ours, list(read_batch(batch))))
            return
        if question is None:
            raise SettingsError("ask what? give a question, or a file with --batch")
        answer = run(_ask(ours, question, as_, in_, thread))
        if as_json:
            print_json(answer.to_json())
        else:
            print_result(describe(answer))


async def _ask(
    context: CommandContext, question: str, as_: str | None, in_: str | None, thread: str
) -> Answer:
    async with open_product(context.load_settings(), context.clock) as product:
        await require_index(product)
        reader = await product.resolve_reader(as_=as_, in_=in_)
        return await product.conversation.ask(question, reader, thread=thread)


async def _ask_batch(context: CommandContext, questions: list[BatchQuestion]) -> None:
    async with open_product(context.load_settings(), context.clock) as product:
        await require_index(product)
        for question in questions:
            try:
                answer = await ask_one(product, question)
            except SettingsError as error:
                # Nobody of that name, no such channel: the other questions are answered.
                answer = Answer(outcome=Outcome.FAILED, text=str(error))
            print_json({"id": question.id, **answer.to_json()})


async def ask_one(product: Product, question: BatchQuestion) -> Answer:
    """Answer the last turn of a batch question, as its asker, where it was asked."""
    reader = await product.resolve_reader(as_=question.asker, in_=question.where)
    return await product.conversation.ask_in_turn(question.turns, reader)


def read_batch(path: Path) -> Iterator[BatchQuestion]:
    """Read a batch; unknown keys are ignored.

    Raises:
        SettingsError: The file can't be read, or a line is not of this form.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{str(path)!r} can't be read as UTF-8 text: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _parse_line(line, f"line {number} of {str(path)!r}")


def _parse_line(line: str, place: str) -> BatchQuestion:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise SettingsError(f"{place} is not JSON: {error}") from error
    try:
        return BatchQuestion.model_validate(value)
    except ValidationError as error:
        raise SettingsError(
            f'{place} needs "id" (text) and "turns" (a list of at least one text); '
            '"asker" and "where" are texts or left out'
        ) from error


def describe(answer: Answer) -> str:
    """Put an answer and its sources into text for a terminal."""
    lines = [answer.text]
    if answer.citations:
        lines.append("")
    for citation in answer.citations:
        place = " › ".join((citation.title, *citation.heading_path))
        page = f", p. {citation.page}" if citation.page else ""
        label = citation.version_label or str(citation.version)
        label = f"v{label}" if label[0].isdigit() else label
        where = f"{show_address(citation.url)}{page}, {label}, {citation.updated_at:%Y-%m-%d}"
        lines.append(f"[{citation.n}] {place}  ({where})")
    if answer.private_answer is not None:
        lines += ["", "— only for you / 仅您可见 —", answer.private_answer]
    lines += ["", f"{answer.outcome} · {answer.took_ms:.0f} ms · zhixing trace {answer.trace_id}"]
    return "\n".join(lines)
