"""`zhixing search`: ranked passages, as the asker or for a channel's listeners."""

from dataclasses import replace

import typer

from bot.bootstrap import Product, open_product
from bot.commands.context import CommandContext, get_context, run
from bot.commands.options import AsOfOption, AsOption, InOption, JsonOption, LimitOption
from bot.commands.output import print_json, print_result, show_address
from bot.index_switch import require_index
from bot.search_query import SearchQuery, build_filter, parse_search
from core.clock import parse_moment
from core.credentials import mask_credentials
from core.logging import MASK
from knowledge.documents import Hit
from knowledge.retrieval import Retrieval

SNIPPET_LENGTH = 240


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def search(
        context: typer.Context,
        query: str,
        as_: AsOption = None,
        in_: InOption = None,
        as_of: AsOfOption = None,
        limit: LimitOption = 10,
        as_json: JsonOption = False,
    ) -> None:
        """Find passages; filters: `space:hr label:policy by:li after:2026-01-01 @base`."""
        parsed = parse_search(query, as_of=parse_moment(as_of) if as_of else None)
        found = run(_search(get_context(context), parsed, as_, in_, limit))
        if as_json:
            print_json({"hits": [to_json(hit) for hit in found.hits], "took_ms": found.took_ms})
        else:
            print_result("\n\n".join(map(describe, found.hits)) or "nothing found")


async def _search(
    context: CommandContext, query: SearchQuery, as_: str | None, in_: str | None, limit: int
) -> Retrieval:
    async with open_product(context.load_settings(), context.clock) as product:
        return await search_as(product, query, as_=as_, in_=in_, limit=limit)


async def search_as(
    product: Product, query: SearchQuery, *, as_: str | None, in_: str | None, limit: int
) -> Retrieval:
    """Search with the rights of whoever listens."""
    await require_index(product)
    reader = await product.resolve_reader(as_=as_, in_=in_)
    where = build_filter(query, reader.audience_readable, product.state.settings.bases)
    found = await product.retriever.search(query.words, where, limit=limit)
    # Near ties are for answers; here the person said how many.
    return replace(found, hits=found.hits[:limit])


def to_json(hit: Hit) -> dict[str, object]:
    """Return a hit in the stable `--json` form."""
    return {
        "document_id": hit.document_id,
        "passage_id": hit.passage_id,
        "title": hit.title,
        "heading_path": list(hit.heading_path),
        "url": hit.url,
        "version": hit.version_number,
        "updated_at": hit.updated_at.isoformat(),
        "score": round(hit.score, 6),
        "text": mask_credentials(hit.text, MASK),
        "page": hit.page,
        "space": hit.space,
        "status": hit.status.value,
    }


def describe(hit: Hit) -> str:
    """Put a hit into a few lines for a person."""
    text = " ".join(mask_credentials(hit.text, MASK).split())
    snippet = text[:SNIPPET_LENGTH] + ("…" if len(text) > SNIPPET_LENGTH else "")
    place = " › ".join((hit.title, *hit.heading_path))
    page = f", p. {hit.page}" if hit.page else ""
    return (
        f"{place}\n  {show_address(hit.url)}{page}  v{hit.version_number}, "
        f"{hit.updated_at:%Y-%m-%d}  [{hit.score:.3f}]\n  {snippet}"
    )
