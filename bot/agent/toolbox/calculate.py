"""The tool that adds up: over numbers and dates that stand in the question or in results."""

import re
from collections.abc import Mapping
from typing import ClassVar

from pydantic import JsonValue

from bot.agent.caller import Caller
from bot.agent.toolbox.arithmetic import LONGEST, calculate, write_value
from bot.agent.tools import JsonSchema, ToolResult
from bot.rag.numerals import MULTIPLIERS, fold_width

NAME = "calculate"
_GROUPED = re.compile(r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d])")
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "（": "(", "）": ")", "，": ","})
_SCALED = re.compile(
    rf"(\d+(?:\.\d+)?)\s*({'|'.join(sorted(MULTIPLIERS, key=len, reverse=True))})(?![a-z])",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"[¥$€£￥元]|\b(?:CNY|RMB|USD|EUR)\b", re.IGNORECASE)
_CARET = re.compile(r"\^")


class Calculate:
    """Works out sums, differences, shares and dates."""

    name = NAME
    description = (
        "Calculate with numbers and dates found before, e.g. 1200*3, sum(80, 95.5), 12% * 4000, "
        "2026-03-31 - 2026-03-01, add_months(2026-01-31, 1)."
    )
    parameters: ClassVar[JsonSchema] = {
        "type": "object",
        "properties": {
            "expression": {"type": "string", "minLength": 1, "maxLength": LONGEST},
        },
        "required": ["expression"],
        "additionalProperties": False,
    }
    timeout_s = 2.0

    def is_offered_to(self, caller: Caller) -> bool:  # noqa: ARG002 - sums are for everybody
        """See `Tool`."""
        return True

    async def run(
        self,
        arguments: Mapping[str, JsonValue],
        caller: Caller,  # noqa: ARG002 - sums are for everybody
    ) -> ToolResult:
        """See `Tool`."""
        expression = tidy_expression(str(arguments["expression"]))
        result = write_value(calculate(expression))
        row: Mapping[str, JsonValue] = {"expression": expression, "result": result}
        return ToolResult(text=f"{expression} = {result}", rows=(row,))


def tidy_expression(expression: str) -> str:
    """Write an expression plainly: 3 万 as (3*10000), 1,200 as 1200, × as *, without currencies."""
    text = fold_width(expression).translate(_SIGNS)
    text = _CURRENCY.sub(" ", text)
    # Commas between groups of three digits; where functions take values they have a blank behind.
    text = _GROUPED.sub(lambda match: match.group().replace(",", ""), text)
    text = _SCALED.sub(lambda match: f"({match[1]}*{MULTIPLIERS[match[2].lower()]})", text)
    return " ".join(_CARET.sub("**", text).rstrip("= ").split())
