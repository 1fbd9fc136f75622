import pytest

from core.credentials import find_credentials, mask_credentials
from tests.unit.core.credential_cases import (
    COUNTED,
    DEVELOPED,
    HARMLESS_COUNTED,
    HARMLESS_DEVELOPED,
)

MASK = "(hidden)"
# What was found of the second half when it was counted; see docs/answering.md.
LEAST_COUNTED = 28


@pytest.mark.parametrize(("text", "secret"), DEVELOPED)
def test_credentials_are_masked_wherever_they_stand(text: str, secret: str) -> None:
    masked = mask_credentials(text, MASK)
    assert secret not in masked
    assert MASK in masked
    assert mask_credentials(masked, MASK) == masked


@pytest.mark.parametrize("text", [*HARMLESS_DEVELOPED, *HARMLESS_COUNTED])
def test_ids_hashes_and_rules_stay(text: str) -> None:
    assert mask_credentials(text, MASK) == text


def test_no_fewer_are_found_of_cases_that_no_rule_was_made_for() -> None:
    found = sum(secret not in mask_credentials(text, MASK) for text, secret in COUNTED)
    assert found >= LEAST_COUNTED


def test_the_login_of_a_pair_goes_with_its_password() -> None:
    masked = mask_credentials("账号：deploy / dp#2026go，请勿外传", MASK)
    assert masked == f"账号：{MASK} / {MASK}，请勿外传"


def test_overlapping_finds_are_one() -> None:
    text = "token: " + "xoxb-" + "20394857-10293847-aBcDeFgHiJkL"
    assert len(find_credentials(text)) == 1


def test_full_stops_after_a_credential_stay() -> None:
    assert mask_credentials("The password is harbor-2291.", MASK) == f"The password is {MASK}."
