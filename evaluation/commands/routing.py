"""`zhixing eval --router`: labelled messages through the router."""

import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from rich.console import Console

from bot.assembly import build_people_loader, build_router, build_writer
from bot.bootstrap import open_chat_model, open_embedder, open_light_model, open_state
from bot.commands.context import CommandContext, run
from bot.commands.output import print_json
from evaluation.routing import RouterScores, load_labelled, route_all, score
from evaluation.routing_report import ALL, build_routing_json, print_routing


def evaluate_router(
    command: CommandContext, files: Sequence[Path], *, asks_model: bool, as_json: bool
) -> None:
    """Route the messages of files, or of the product's own test, and print the figures.

    Raises:
        SettingsError: A file is not valid.
    """
    scores, embedder, prepare_s = run(_measure(command, files, asks_model=asks_model))
    if as_json:
        print_json(build_routing_json(scores, embedder=embedder, prepare_s=prepare_s))
        return
    console = Console(soft_wrap=True)
    print_routing(scores, console)
    console.print(f"embedder {embedder}; examples ready after {prepare_s:.2f} s")


async def _measure(
    command: CommandContext, files: Sequence[Path], *, asks_model: bool
) -> tuple[dict[str, RouterScores], str, float]:
    labelled = load_labelled(files)
    settings = command.load_settings()
    async with AsyncExitStack() as stack:
        state = await stack.enter_async_context(open_state(settings, command.clock))
        embedder = await open_embedder(settings)
        stack.push_async_callback(embedder.close)
        model = open_chat_model(settings, command.clock) if asks_model else None
        light = (open_light_model(settings, command.clock) or model) if asks_model else None
        for opened in {model, light}:
            if opened is not None:
                stack.push_async_callback(opened.close)
        router = build_router(
            settings,
            embedder,
            light,
            build_writer(settings, model),
            build_people_loader(state.registry),
        )
        stack.push_async_callback(router.close)
        began = time.perf_counter()
        await router.prepare(wait_s=None)
        prepare_s = time.perf_counter() - began
        routed = await route_all(labelled, router)
    groups = {ALL: routed}
    for lang in sorted({one.labelled.lang for one in routed}):
        groups[lang] = [one for one in routed if one.labelled.lang == lang]
    return {name: score(group) for name, group in groups.items()}, embedder.name, prepare_s
