"""The tools that every company has, opened over its index."""

from collections.abc import Mapping

from bot.agent.toolbox.calculate import Calculate
from bot.agent.toolbox.get_page import GetPage
from bot.agent.toolbox.look_up_person import LookUpPerson
from bot.agent.toolbox.reading import PageReading
from bot.agent.toolbox.search_docs import SearchDocs
from bot.agent.toolbox.versions import CompareVersions, ListVersions
from bot.agent.tools import Tool
from core.settings import BaseSettings
from knowledge.analysis import Analyser
from knowledge.ledger import Ledger
from knowledge.retrieval.pipeline import Retriever
from knowledge.stores import PassageStore


def build_toolbox(
    *,
    retriever: Retriever,
    store: PassageStore,
    ledger: Ledger,
    analyser: Analyser,
    bases: Mapping[str, BaseSettings],
) -> tuple[Tool, ...]:
    """Open the tools over pages, people and numbers."""
    reading = PageReading(store=store, ledger=ledger)
    return (
        SearchDocs(retriever, bases),
        GetPage(reading, analyser),
        ListVersions(reading),
        CompareVersions(reading),
        LookUpPerson(),
        Calculate(),
    )
