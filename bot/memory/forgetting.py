"""Forgetting what was said, in a person's own words; done once they have confirmed it.

Nothing is remembered between the two messages: the second one says by itself what it confirms.
"""

import re
from dataclasses import dataclass

from bot.memory.memory_texts import MemoryTexts, get_memory_texts
from bot.memory.recollection import name_asker
from bot.memory.turns import TurnStore
from bot.rag.language import detect_language
from core.messages import Answer, Outcome
from knowledge.readers import Reader

ROUTE = "memory"

_END = r"[\s!！。.,，~?？吧啊呀了]*$"
_POLITE = (
    r"^\W*(?:please |can you |could you |would you |请|麻烦(?:你|您)?|帮我|你|您|能不能|可以)*"
)
_WHAT_EN = (
    r"(?:what (?:we|i|you) (?:\w+ )?(?:talked|spoke|discussed|said|asked|told)(?: you)?(?: about)?"
    r"|(?:this|our|the|my|all(?: of)? (?:my|our)) (?:whole |last |previous )?"
    r"(?:conversations?|chats?|dialogues?|questions|history)|everything (?:i|we) (?:said|asked))"
    r"(?: (?:so far|before|earlier|today|here|just now|in this thread))?"
)
_WHAT_ZH = (
    r"(?:我们|咱们|我)?(?:刚才|之前|前面|以前|今天|这次|所有|全部)?(?:的|我们|我)?(?:所有|全部)?(?:的)?"
    r"(?:(?:聊|说|谈|问)(?:过)?的(?:话|内容|东西|事情?|问题)?|对话|聊天|会话|谈话|提问)(?:记录|内容|历史)?"
)
_FORGET = re.compile(
    _POLITE
    + rf"(?:(?:forget|delete|erase|clear) (?:about )?{_WHAT_EN}"
    + rf"|(?:忘掉|忘记|忘了|忘|清除|清空|删除|删掉|别记(?:得|住)?|不要记(?:得|住)?){_WHAT_ZH}"
    + rf"|把?{_WHAT_ZH}(?:都|全都|全)?(?:忘掉|忘记|忘了|清除|清空|删除|删掉|清掉))"
    + _END,
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"^\W*(?:yes,? forget (?P<en>this conversation|everything)"
    r"|确认忘掉(?P<zh>这段对话|全部对话))\W*$",
    re.IGNORECASE,
)
_ALL = frozenset({"everything", "全部对话"})


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Forgets for the person who asks for it, and nobody else."""

    turns: TurnStore

    async def obey(self, text: str, thread: str, reader: Reader) -> Answer | None:
        """Ask back or forget; None when the text asks for neither."""
        confirmed = _CONFIRMED.match(text)
        if confirmed is None and not _FORGET.match(text):
            return None
        texts = get_memory_texts(detect_language(text))
        if confirmed is None:
            return await self._ask_back(thread, reader, texts)
        is_all = (confirmed["en"] or confirmed["zh"]).casefold() in _ALL
        gone = await self.turns.forget(name_asker(reader), "" if is_all else thread)
        if is_all and not reader.is_private:
            # How much somebody asked elsewhere is nobody else's.
            return _say(texts.forgotten_all)
        return _say(texts.describe_forgotten(gone))

    async def _ask_back(self, thread: str, reader: Reader, texts: MemoryTexts) -> Answer:
        here = await self.turns.count(name_asker(reader), thread)
        if not reader.is_private:
            said = texts.ask_back_in_room.format(here=texts.count(here))
            return Answer(outcome=Outcome.CLARIFY, text=said, route=ROUTE)
        everywhere = await self.turns.count(name_asker(reader))
        if not everywhere.is_any:
            return _say(texts.nothing)
        said = texts.ask_back.format(here=texts.count(here), everywhere=texts.count(everywhere))
        return Answer(outcome=Outcome.CLARIFY, text=said, route=ROUTE)


def _say(text: str) -> Answer:
    return Answer(outcome=Outcome.CHITCHAT, text=text, route=ROUTE)
