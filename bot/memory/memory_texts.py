"""What the assistant says about what it remembers."""

from dataclasses import dataclass

from bot.memory.turns import Remembered
from bot.rag.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTexts:
    """The assistant's own words in one language; `{...}` are filled in."""

    nothing: str
    turns: tuple[str, str]
    summaries: tuple[str, str]
    threads: tuple[str, str]
    joint: str
    forgotten: str
    forgotten_all: str
    ask_back: str
    ask_back_in_room: str
    heading: str
    in_short: str
    hidden: str
    kept_for: str
    more: str
    forget: str
    confirm: str
    cancel: str

    def count(self, remembered: Remembered) -> str:
        """Put into words how much is remembered."""
        if not remembered.is_any:
            return _count(0, self.turns)
        parts = [_count(remembered.turns, self.turns)]
        if remembered.summaries:
            parts.append(_count(remembered.summaries, self.summaries))
        return self.joint.join(parts) + _count(remembered.threads, self.threads)

    def describe_forgotten(self, gone: Remembered) -> str:
        """Tell what was deleted."""
        return self.forgotten.format(count=self.count(gone)) if gone.is_any else self.nothing


def _count(count: int, forms: tuple[str, str]) -> str:
    """Fill in a number; the forms are for one and for any other."""
    return forms[count != 1].format(count=count)


_ZH = MemoryTexts(
    nothing="没有记着您说过的话。",
    turns=("{count} 轮问答",) * 2,
    summaries=("{count} 条摘要",) * 2,
    threads=("（{count} 段对话）",) * 2,
    joint="、",
    forgotten="好的，已经忘掉：{count}。",
    forgotten_all="好的，您在所有对话里说过的话都已经忘掉。",
    ask_back=(
        "这段对话里我记着您的 {here}，所有对话合计 {everywhere}。"
        "忘掉之后无法恢复；别人公开的问答不受影响。\n\n"
        "- 只忘掉这段对话，请回复：确认忘掉这段对话\n"
        "- 忘掉所有对话，请回复：确认忘掉全部对话"
    ),
    ask_back_in_room=(
        "这段对话里我记着您的 {here}。忘掉之后无法恢复；别人公开的问答不受影响。\n\n"
        "- 只忘掉这段对话，请回复：确认忘掉这段对话\n"
        "- 忘掉所有对话，请回复：确认忘掉全部对话"
    ),
    heading="我记着您的这些话",
    in_short="摘要：{text}",
    hidden="另有 {count} 条依据了您现在无权查看或已不存在的内容，不再使用，也不显示。",
    kept_for="保留 {days} 天，只有您能看到。",
    more="另有 {count} 条更早的。",
    forget="忘掉我的对话",
    confirm="我会忘掉您之前说过的话，并清空提问记录。无法恢复。",
    cancel="取消",
)  # fmt: skip

_EN = MemoryTexts(
    nothing="I remember nothing that you said.",
    turns=("{count} question with its answer", "{count} questions with their answers"),
    summaries=("{count} summary", "{count} summaries"),
    threads=(" from {count} conversation", " from {count} conversations"),
    joint=" and ",
    forgotten="Done. Forgotten: {count}.",
    forgotten_all="Done. What you said in all conversations is forgotten.",
    ask_back=(
        "Of this conversation I remember {here}; of all conversations {everywhere}. Forgetting "
        "can't be undone; what others asked in public stays.\n\n"
        "- For this conversation alone, reply: yes, forget this conversation\n"
        "- For all of them, reply: yes, forget everything"
    ),
    ask_back_in_room=(
        "Of this conversation I remember {here}. Forgetting can't be undone; what others asked in "
        "public stays.\n\n"
        "- For this conversation alone, reply: yes, forget this conversation\n"
        "- For all of them, reply: yes, forget everything"
    ),
    heading="What I remember of what you said",
    in_short="In short: {text}",
    hidden=(
        "{count} more rest on what you may not read today or what is gone; they are neither used "
        "nor shown."
    ),
    kept_for="Kept for {days} days; only you see this.",
    more="{count} earlier ones.",
    forget="Forget my conversations",
    confirm="I forget what you said before and clear your recent questions. This can't be undone.",
    cancel="Cancel",
)


def get_memory_texts(language: Language) -> MemoryTexts:
    """Return the assistant's words about memory in a language."""
    return _ZH if language == "zh" else _EN
