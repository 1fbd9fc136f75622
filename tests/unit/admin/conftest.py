"""The company of the bot's own tests."""

from tests.unit.bot.conftest import office, synced_office, words_only

__all__ = ["office", "synced_office", "words_only"]
