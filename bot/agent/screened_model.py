"""A chat model as the agent uses it: nothing sensitive leaves for one that is not private."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from bot.agent.arguments import change_texts
from bot.rag.placeholders import Placeholders
from core.models import ChatMessage, ChatModel, ChatReply, ToolCall, ToolSpec

_WORDS = frozenset({"description", "title", "enum", "default", "examples", "const"})


class ScreenedModel:
    """Puts placeholders into every message, call and tool on the way out.

    Arguments of calls come back as they are: text is put back once they are parsed, for what is
    put back may hold quotes.
    """

    def __init__(self, model: ChatModel, placeholders: Placeholders) -> None:
        self._model = model
        self._placeholders = placeholders

    def restore(self, text: str) -> str:
        """Put back what was kept from the model."""
        return self._placeholders.restore(text)

    async def complete(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec], *, max_tokens: int
    ) -> ChatReply:
        """Return the reply, its text and arguments not yet restored; raises as `ChatModel`."""
        return await self._model.complete(
            [self._screen(one) for one in messages],
            max_tokens=max_tokens,
            tools=[self._screen_tool(one) for one in tools],
        )

    def _screen(self, message: ChatMessage) -> ChatMessage:
        replace_text = self._placeholders.replace
        calls = tuple(
            ToolCall(call_id=one.call_id, name=one.name, arguments=replace_text(one.arguments))
            for one in message.tool_calls
        )
        return replace(message, content=replace_text(message.content), tool_calls=calls)

    def _screen_tool(self, tool: ToolSpec) -> ToolSpec:
        parameters = {key: self._screen_schema(value) for key, value in tool.parameters.items()}
        description = self._placeholders.replace(tool.description)
        return replace(tool, description=description, parameters=parameters)

    def _screen_schema(self, value: JsonValue) -> JsonValue:
        """Screen what a schema says in words; its keywords and names stay."""
        if isinstance(value, list):
            return [self._screen_schema(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            key: change_texts(one, self._placeholders.replace)
            if key in _WORDS
            else self._screen_schema(one)
            for key, one in value.items()
        }
