"""Messages and tools in the form of the chat completions API, and in words for servers without."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

from core.models import ChatMessage, ToolSpec

_DESCRIPTION = """\


Tools:
{tools}

To call a tool reply with nothing but JSON, one object a call:
{{"name": "tool's name", "arguments": {{...}}}}"""
_RESULT = "Result of the tool:\n{result}"


def build_wire_messages(messages: Sequence[ChatMessage]) -> list[ChatCompletionMessageParam]:
    """Build the messages as the API wants them."""
    return [_build_message(message) for message in messages]


def build_tool(tool: ToolSpec) -> ChatCompletionFunctionToolParam:
    """Build a tool as the API wants it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }


def describe_tools(messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> list[ChatMessage]:
    """Put tools, calls and results into words.

    Neighbours of one role are joined: the templates of such servers often want roles to alternate.
    """
    described = "\n".join(_describe_tool(tool) for tool in tools)
    system = ChatMessage(role="system", content=_DESCRIPTION.format(tools=described).strip())
    joined: list[ChatMessage] = []
    for message in [system, *(_put_into_words(one) for one in messages)]:
        if joined and joined[-1].role == message.role:
            content = f"{joined[-1].content}\n\n{message.content}"
            joined[-1] = replace(joined[-1], content=content)
        else:
            joined.append(message)
    return joined


def _describe_tool(tool: ToolSpec) -> str:
    schema = json.dumps(dict(tool.parameters), ensure_ascii=False, separators=(",", ":"))
    return f"- {tool.name}: {tool.description} Arguments: {schema}"


def _put_into_words(message: ChatMessage) -> ChatMessage:
    match message.role:
        case "tool":
            return ChatMessage(role="user", content=_RESULT.format(result=message.content))
        case "assistant" if message.tool_calls:
            return ChatMessage(role="assistant", content="\n".join(_write_calls(message)))
        case _:
            return message


def _write_calls(message: ChatMessage) -> Iterator[str]:
    if message.content:
        yield message.content
    for call in message.tool_calls:
        yield f'{{"name": {json.dumps(call.name)}, "arguments": {call.arguments or "{}"}}}'


def _build_message(message: ChatMessage) -> ChatCompletionMessageParam:
    match message.role:
        case "system":
            return {"role": "system", "content": message.content}
        case "user":
            return {"role": "user", "content": message.content}
        case "tool":
            return {
                "role": "tool",
                "content": message.content,
                "tool_call_id": message.tool_call_id,
            }
        case "assistant" if message.tool_calls:
            return {
                "role": "assistant",
                "content": message.content or None,
                "tool_calls": [
                    {
                        "id": call.call_id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments},
                    }
                    for call in message.tool_calls
                ],
            }
        case "assistant":
            return {"role": "assistant", "content": message.content}
