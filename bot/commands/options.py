"""Options that several commands share."""

from typing import Annotated

import typer

AsOption = Annotated[
    str | None,
    typer.Option("--as", help="Who asks: id, e-mail or system:id. None = the local operator."),
]
InOption = Annotated[
    str | None, typer.Option("--in", help="Where: a channel's id or native id, or `dm`.")
]
AsOfOption = Annotated[
    str | None, typer.Option("--as-of", help="What was in force then: 2026-06-30 or ISO time.")
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=100, help="Results at most.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
