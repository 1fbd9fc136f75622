import json

import pytest
import structlog

from core.logging import configure_logging, mask_secrets

SECRETS = [
    "xoxb-1234567890-abcdefgh",
    "xapp-1-A0123-456-abcdef",
    "sk-abcdefghijklmnopqrstu",
    "ntn_abcdefghijklmnop1234",
    "Bearer abc.def.ghi-jkl",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_in_a_value_is_masked(secret: str) -> None:
    assert secret not in mask_secrets(f"calling with {secret} failed")


def test_a_password_in_a_url_is_masked() -> None:
    assert mask_secrets("postgresql://bot:hunter2@db/x") == "postgresql://***@db/x"


def test_no_field_of_a_log_line_leaks(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(level="INFO", is_json=True)
    try:
        raise RuntimeError(f"refused {SECRETS[0]}")
    except RuntimeError:
        structlog.get_logger().exception(
            "call_failed",
            api_key="k-very-secret",
            headers={"Authorization": "k-very-secret", "Accept": ["text", SECRETS[2]]},
            tokens=12,
        )
    line = capsys.readouterr().err
    for secret in (*SECRETS, "k-very-secret"):
        assert secret not in line
    event = json.loads(line)
    assert event["event"] == "call_failed"
    assert event["tokens"] == 12


def test_lines_below_the_level_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(level="WARNING")
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud", who="operator")
    written = capsys.readouterr().err
    assert "quiet" not in written
    assert "loud" in written
