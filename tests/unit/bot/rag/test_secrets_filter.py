import pytest

from bot.rag.secrets_filter import find_secrets, remove_secrets

MASK = "(hidden)"


@pytest.mark.parametrize(
    "secret",
    [
        "xoxb-" + "1234567890-abcdefghij",
        "sk-" + "abcdefghijklmnopqrstuvwx",
        "ghp_" + "a1b2c3d4e5f6a7b8c9d0e1f2",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "eyJhbGciOiJI." + "eyJzdWIiOiIx." + "c2lnbmF0dXJl",
    ],
)
def test_tokens_are_taken_out_wherever_they_stand(secret: str) -> None:
    filtered = remove_secrets(f"Use {secret} to log in.", mask=MASK)
    assert filtered.text == f"Use {MASK} to log in."
    assert filtered.removed == ("token",)


def test_private_keys_are_taken_out_whole() -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    filtered = remove_secrets(f"Key:\n{begin}\nMIIE\nabc=\n{end}\nDone.", mask=MASK)
    assert filtered.text == f"Key:\n{MASK}\nDone."


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password: Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("The Wi-Fi password is harbor-2291.", "harbor-2291"),
        ("访客 Wi-Fi 密码是 tide2026", "tide2026"),
        ("初始密码：Abc@123456", "Abc@123456"),
        ('api_key = "9f8e7d6c5b4a39281706"', "9f8e7d6c5b4a39281706"),
        ("postgresql://bot:S3cretPw@db.example:5432/state", "S3cretPw"),
        ("Authorization: Bearer abcdef1234567890abcdef", "abcdef1234567890abcdef"),
        ("口令为 88421907", "88421907"),
    ],
)
def test_credentials_in_clear_are_taken_out(text: str, value: str) -> None:
    filtered = remove_secrets(text, mask=MASK)
    assert value.rstrip(".") not in filtered.text
    assert MASK in filtered.text
    assert find_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "password: <your password>",
        "password: ${DB_PASSWORD}",
        "export OPENAI_API_KEY=YOUR_API_KEY",
        "token: process.env.TOKEN",
        "密码：******",
        "密码：您的密码",
        "The password is stored in the vault.",
        "The password is valid for 90 days.",
        "密码为 8 到 20 位，须含数字。",
        "password: required",
        "See https://wiki.example/password-policy:2",
        "The token expires after 30 minutes.",
        "secret: data.vault_secret.value",
    ],
)
def test_examples_and_rules_stay(text: str) -> None:
    assert remove_secrets(text, mask=MASK).text == text


def test_filtering_twice_changes_nothing_more() -> None:
    once = remove_secrets("password: Tr0ub4dor&3", mask=MASK).text
    assert remove_secrets(once, mask=MASK).text == once
