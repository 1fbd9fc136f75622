"""What the settings choose, and that everything opened is closed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bot.assembly import build_people_loader, build_similarity, build_writer
from bot.bootstrap import (
    build_memberships,
    open_chat_model,
    open_embedder,
    open_reranker,
    open_state,
)
from connectors import registry
from core.clock import SystemClock
from core.errors import SettingsError
from core.settings import (
    ConfluenceSettings,
    DatabaseSettings,
    EmbeddingSettings,
    FilesSettings,
    ModelSettings,
    Settings,
)
from knowledge.embedding.none import NoEmbedder
from tests.unit.bot.office import Office

CLOCK = SystemClock()


class ThreeLetters:
    """Turns a text into how often it holds three letters."""

    name = "three-letters"
    dimension = 3

    async def embed_query(self, text: str) -> np.ndarray:
        return np.array([text.count(letter) for letter in "abc"], dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([await self.embed_query(text) for text in texts])

    async def close(self) -> None:
        """Hold nothing."""


async def test_without_a_model_answers_are_quoted(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    assert open_chat_model(settings, CLOCK) is None
    assert build_writer(settings, None) is None
    assert open_reranker(settings) is None


@pytest.mark.parametrize("is_private", [True, False])
async def test_a_model_is_as_private_as_its_settings_say(
    tmp_path: Path, *, is_private: bool
) -> None:
    settings = Settings(home=tmp_path, models=ModelSettings(chat_model="m", private=is_private))
    model = open_chat_model(settings, CLOCK)
    assert model is not None
    assert model.is_private is is_private
    assert build_writer(settings, model) is not None
    await model.close()


def test_words_alone_need_no_cache_of_vectors(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, embedding=EmbeddingSettings(kind="none"))
    embedder = asyncio.run(open_embedder(settings))
    assert isinstance(embedder, NoEmbedder)
    assert build_similarity(embedder) is None
    assert not list(tmp_path.iterdir())


async def test_similarity_compares_each_text_with_the_question() -> None:
    similarity = build_similarity(ThreeLetters())  # type: ignore[arg-type]
    assert similarity is not None
    assert await similarity("ab", ["aab", "ccc", "b"]) == [3.0, 0.0, 1.0]


async def test_the_loader_knows_both_names_of_each_person_as_they_are_now(office: Office) -> None:
    async with office.open() as product:
        people = await build_people_loader(product.state.registry)()
    assert ("莫岚", "Mo Lan") in people
    assert ("Gast Eins",) in people
    assert len(people) == 5


async def test_a_state_makes_its_home_folder(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    async with open_state(Settings(home=home), CLOCK) as state:
        assert (await state.directory.load()).people == {}
    assert (home / "state.sqlite3").exists()


async def test_a_database_of_another_kind_is_refused_without_its_password(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path, database=DatabaseSettings.model_validate({"url": "mysql://u:hunter2@db/x"})
    )
    with pytest.raises(SettingsError, match="database kind 'mysql' is not supported") as refused:
        async with open_state(settings, CLOCK):
            pass
    assert "hunter2" not in str(refused.value)


async def test_a_product_closes_its_store_and_leaves_the_database_free(office: Office) -> None:
    async with office.open() as product:
        assert await product.store.count() > 0
    with pytest.raises(RuntimeError, match="is closed"):
        await product.store.count()
    async with office.open() as again:
        assert await again.store.count() > 0


async def test_a_source_is_opened_by_its_settings(tmp_path: Path) -> None:
    source = registry.open_source("wiki", FilesSettings(path=str(tmp_path)), clock=CLOCK)
    assert source.name == "wiki"
    await source.close()


@pytest.mark.parametrize(
    ("group_source", "has_groups"), [("", True), ("other-wiki", True), ("company", False)]
)
async def test_only_sources_with_groups_of_their_own_confirm_members(
    tmp_path: Path, group_source: str, *, has_groups: bool
) -> None:
    wiki = ConfluenceSettings(
        kind="confluence", url="https://wiki.example/wiki", group_source=group_source
    )
    sources = {"files": FilesSettings(path=str(tmp_path)), "wiki": wiki}
    async with open_state(Settings(home=tmp_path, sources=sources), CLOCK) as state:
        memberships = build_memberships(state)
        assert memberships.has_sources == has_groups
        await memberships.close()
