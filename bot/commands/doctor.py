"""`zhixing doctor`: checks every configured part and says what to mend."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import typer

from bot.bootstrap import (
    open_chat_model,
    open_embedder,
    open_product,
    open_reranker,
    open_skills,
    open_source,
    open_state,
)
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import JsonOption
from bot.commands.output import print_json, print_result
from core.chat_settings import SlackSettings
from core.clock import Clock
from core.errors import SettingsError, ZhixingError
from core.models import ChatMessage
from core.settings import FilesSettings, Settings, SourceSettings
from knowledge.source import CheckedSource

EXIT_PROBLEMS = 1
MODEL_TOKENS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found; `remedy` is empty when all is well."""

    part: str
    is_well: bool
    said: str

    def describe(self) -> str:
        """Put the finding into a line."""
        return f"{'✓' if self.is_well else '✗'} {self.part}: {self.said}"


Check = Callable[[Settings, Clock], Awaitable[str]]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def doctor(context: typer.Context, as_json: JsonOption = False) -> None:
        """Check settings, database, sources, embedder, index and models; exit 1 on a problem."""
        findings = run(check_all(get_context(context)))
        if as_json:
            print_json(
                {
                    "findings": [
                        {"part": one.part, "is_well": one.is_well, "said": one.said}
                        for one in findings
                    ]
                }
            )
        else:
            print_result("\n".join(one.describe() for one in findings))
        if not all(one.is_well for one in findings):
            raise typer.Exit(EXIT_PROBLEMS)


async def check_all(context: CommandContext) -> list[Finding]:
    """Run every check; one that fails does not keep the others from running."""
    settings = context.load_settings()
    checks: dict[str, Check] = {
        "database": _check_database,
        "embedder": _check_embedder,
        "index": _check_index,
        "chat model": _check_model,
        "cross-encoder": _check_reranker,
        "OCR": _check_ocr,
        "skills": _check_skills,
    }
    findings = [
        await _check_source(name, source, settings, context.clock)
        for name, source in settings.sources.items()
    ]
    if settings.slack.is_configured:
        checks |= _find_slack_checks()
    for part, check in checks.items():
        try:
            said = await check(settings, context.clock)
            findings.append(Finding(part=part, is_well=True, said=said))
        except ZhixingError as error:
            findings.append(Finding(part=part, is_well=False, said=str(error)))
    return findings


def _find_slack_checks() -> dict[str, Check]:
    # Slack's own packages take long to load and few commands need them.
    from bot.handlers.slack.checkup import CHECKS  # noqa: PLC0415

    def adapt(check: Callable[[SlackSettings], Awaitable[str]]) -> Check:
        async def run_check(settings: Settings, clock: Clock) -> str:  # noqa: ARG001 - as all
            return await check(settings.slack)

        return run_check

    return {part: adapt(check) for part, check in CHECKS.items()}


def _check_folder(name: str, path: str) -> Finding:
    part = f"source {name}"
    if Path(path).expanduser().exists():
        return Finding(part=part, is_well=True, said=path)
    said = f"{path!r} does not exist; mend sources.{name}.path or remove the source"
    return Finding(part=part, is_well=False, said=said)


async def _check_source(
    name: str, source_settings: SourceSettings, settings: Settings, clock: Clock
) -> Finding:
    part = f"source {name}"
    if isinstance(source_settings, FilesSettings):
        return _check_folder(name, source_settings.path)
    try:
        async with open_state(settings, clock) as state:
            source = open_source(name, source_settings, state)
            try:
                said = await source.check() if isinstance(source, CheckedSource) else "configured"
            finally:
                await source.close()
    except ZhixingError as error:
        return Finding(part=part, is_well=False, said=str(error))
    return Finding(part=part, is_well=True, said=said)


async def _check_database(settings: Settings, clock: Clock) -> str:
    async with open_state(settings, clock) as state:
        people = (await state.directory.load()).people
        return f"{state.database.name}, {len(people)} people in the directory"


async def _check_embedder(settings: Settings, clock: Clock) -> str:  # noqa: ARG001 - as all checks
    embedder = await open_embedder(settings)
    try:
        vector = await embedder.embed_query("知行 zhixing")
        return f"{embedder.name}, {len(vector)} dimensions"
    finally:
        await embedder.close()


async def _check_index(settings: Settings, clock: Clock) -> str:
    async with open_product(settings, clock) as product:
        return f"{await product.store.count()} rows in {str(settings.store_path)!r}"


async def _check_model(settings: Settings, clock: Clock) -> str:
    model = open_chat_model(settings, clock)
    if model is None:
        return "none is set; answers are quoted"
    try:
        reply = await model.complete(
            [ChatMessage(role="user", content="Say OK.")], max_tokens=MODEL_TOKENS
        )
        return f"{model.name} answered {reply.text.strip()!r}"
    finally:
        await model.close()


async def _check_reranker(settings: Settings, clock: Clock) -> str:  # noqa: ARG001 - as all checks
    reranker = open_reranker(settings)
    if reranker is None:
        return "none is set"
    await reranker.score("question", ["text"])
    return reranker.name


async def _check_skills(settings: Settings, clock: Clock) -> str:
    async with open_state(settings, clock) as state, open_skills(state) as skills:
        if skills.problems:
            raise SettingsError("; ".join(str(one) for one in skills.problems))
        count = len(skills.skills)
        return f"{count}, {len(skills)} of them act after confirmation" if count else "none"


async def _check_ocr(settings: Settings, clock: Clock) -> str:  # noqa: ARG001 - as all checks
    if find_spec("rapidocr") is None:
        return "not installed; pictures and scanned pages are left out (zhixing[ocr])"
    return "installed"
