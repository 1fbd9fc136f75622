"""Tool calls as servers send them, whole or in pieces."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from openai.types.chat import ChatCompletionMessageToolCallUnion
from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

from core.models import ToolCall

_ID_BYTES = 6


def read_tool_calls(
    sent: Sequence[ChatCompletionMessageToolCallUnion] | None,
) -> tuple[ToolCall, ...]:
    """Read the calls of a whole reply; one without a name is none."""
    found = []
    for one in sent or ():
        function = getattr(one, "function", None)
        name = getattr(function, "name", None)
        if isinstance(name, str) and name:
            arguments = _read_arguments(getattr(function, "arguments", None))
            found.append(ToolCall(call_id=_read_id(one.id), name=name, arguments=arguments))
    return tuple(found)


@dataclass(slots=True)
class _Pieces:
    call_id: str = ""
    name: str = ""
    arguments: str = ""


class ToolCallCollector:
    """Puts the pieces of streamed calls together.

    Pieces belong together by their index. Servers that leave it out send whole calls, or begin
    each with its name.
    """

    def __init__(self) -> None:
        self._calls: dict[int, _Pieces] = {}
        self._last = -1

    def feed(self, pieces: Sequence[ChoiceDeltaToolCall] | None) -> int:
        """Take the pieces of one event; returns how many characters they had."""
        length = 0
        for piece in pieces or ():
            function = piece.function
            name = (function.name if function else None) or ""
            arguments = _read_arguments(function.arguments if function else None)
            call = self._find(piece, name)
            call.call_id = call.call_id or piece.id or ""
            call.name = call.name or name
            call.arguments += arguments
            length += len(name) + len(arguments)
        return length

    def finish(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order of their index; one without a name is none."""
        return tuple(
            ToolCall(call_id=_read_id(one.call_id), name=one.name, arguments=one.arguments)
            for _, one in sorted(self._calls.items())
            if one.name
        )

    def _find(self, piece: ChoiceDeltaToolCall, name: str) -> _Pieces:
        index: int | None = piece.index
        held = self._calls.get(self._last if index is None else index)
        # Some servers give every call of a reply the index 0.
        is_other = held is not None and bool(name and piece.id) and held.call_id != piece.id
        if index is None and (held is None or name):
            index = self._last + 1
        elif is_other:
            index = max(self._calls) + 1
        self._last = self._last if index is None else index
        index = self._last
        return self._calls.setdefault(index, _Pieces())


def _read_id(sent: str | None) -> str:
    return sent or f"call_{secrets.token_hex(_ID_BYTES)}"


def _read_arguments(sent: object) -> str:
    # Some servers send the object itself.
    if sent is None:
        return ""
    return sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False)
