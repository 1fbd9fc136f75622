"""Payloads that others have seen: each is acknowledged, and accepted or ignored for a reason.

SLACK_SAMPLES names a folder of JSON files, one payload a file; without it this is skipped.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.bootstrap import open_product
from bot.handlers.slack.api import open_slack_api
from bot.handlers.slack.app import build_app
from bot.handlers.slack.intake import Intake
from bot.handlers.slack.serving import build_parts
from core.clock import FixedClock, parse_moment
from playground.slack.server import serve_slack
from tests.unit.bot.office import TODAY, Office
from tests.unit.bot.slack.workplace import PATIENCE_S, build_workspace, settings_for

FOLDER = os.environ.get("SLACK_SAMPLES", "")
SAMPLES = sorted(Path(FOLDER).glob("*.json")) if FOLDER else []


def read_body(path: Path) -> dict[str, Any]:
    """Return what the socket would bring; bare events are put into their envelope."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "envelope_id" in found:
        found = found["payload"]
    is_bare_event = "event_ts" in found and "event" not in found
    if is_bare_event:
        return {"type": "event_callback", "event": found, "event_id": path.stem, "team_id": "T111"}
    return found


def count_handled(intake: Intake) -> int:
    """Return how many payloads were accepted, or ignored for a reason."""
    return intake.accepted + intake.ignored.total()


@pytest.mark.skipif(not SAMPLES, reason="SLACK_SAMPLES names no folder of payloads")
async def test_every_sample_is_acknowledged_and_accepted_or_ignored_for_a_reason(
    office: Office,
) -> None:
    async with serve_slack(build_workspace()) as slack:
        settings = settings_for(slack, office)
        async with (
            open_product(settings, FixedClock(parse_moment(TODAY))) as product,
            open_slack_api(settings.slack) as api,
        ):
            parts = await build_parts(product, api)
            app = build_app(parts)
            for path in SAMPLES:
                body = read_body(path)
                before = count_handled(parts.intake)
                response = await app.async_dispatch(
                    AsyncBoltRequest(mode="socket_mode", body=body, headers={})
                )
                assert response.status == 200, (path.name, response.body)
                async with asyncio.timeout(PATIENCE_S):
                    # Bolt acknowledges before its listener has run.
                    while count_handled(parts.intake) == before:  # noqa: ASYNC110 - others count
                        await asyncio.sleep(0)
            await parts.worker.finish()
            assert parts.intake.accepted > 0
            assert all(parts.intake.ignored)
