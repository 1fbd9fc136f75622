"""Which language the assistant's own words are in."""

from bot.preferences.store import LanguageChoice, Preferences
from bot.rag.language import Language, detect_language


class Languages:
    """Chooses by what people or channels have set, else by what was written."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences

    async def for_person(self, account: str, text: str = "") -> Language:
        """Return the language for what only one person reads."""
        return _choose(await self._preferences.load_language(account), text)

    async def for_place(self, account: str, channel: str, text: str) -> Language:
        """Return the language for a reply to somebody; an empty channel = a direct message."""
        if not channel:
            return await self.for_person(account, text)
        return _choose((await self._preferences.load_channel(channel)).language, text)


def _choose(choice: LanguageChoice, text: str) -> Language:
    match choice:
        case "zh" | "en":
            return choice
        case _:
            return detect_language(text) if text.strip() else "zh"
