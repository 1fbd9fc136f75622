from collections.abc import Sequence

import pytest

from bot.rag.destructive_commands import find_destructive
from bot.rag.secrets_filter import COMMAND, filter_stream, remove_secrets, tell_whom_to_ask
from bot.texts import get_texts

EN, ZH = get_texts("en"), get_texts("zh")


def find(text: str) -> list[str]:
    return [text[start:end] for start, end in find_destructive(text)]


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "sudo rm -fr /*",
        "rm -r -f ~",
        'rm -rf "$DIR"/*',
        "rm --recursive --force /etc",
        "mkfs.ext4 /dev/sdb1",
        "dd if=/dev/zero of=/dev/sda bs=1M",
        "format C: /q",
        "DROP DATABASE orders;",
        "drop table if exists customers",
        "TRUNCATE TABLE invoices;",
        "DELETE FROM contracts;",
        "redis-cli FLUSHALL",
        "kubectl delete ns prod",
        "kubectl --context a delete namespace billing",
        "kubectl delete pods --all -n prod",
        "terraform destroy -auto-approve",
        "git push --force origin main",
        "git push -f origin master",
        ":(){ :|:& };:",
        "chmod -R 777 /",
        "find / -name '*.log' -delete",
        "aws s3 rb s3://backups --force",
        "Remove-Item C:\\ -Recurse -Force",
    ],
)
def test_commands_that_destroy_are_taken_out(command: str) -> None:
    filtered = remove_secrets(f"先停服务，再执行 `{command}`。", ZH)
    assert filtered.removed == (COMMAND,)
    assert ZH.hidden_command in filtered.text
    assert filtered.text.startswith("先停服务，再执行 `")
    assert command.rsplit(maxsplit=1)[-1] not in filtered.text


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /var/cache/app/tmp",
        "rm -f report.txt",
        "rm -r build/output",
        "git push --force-with-lease origin feature-12",
        "git push -f origin feature-12",
        "git push origin main",
        "kubectl delete pod web-1",
        "kubectl get ns",
        "DELETE FROM sessions WHERE expires_at < now();",
        "Drop tables are placed in the yard.",
        "drop the database from the list of suspects",
        "dd if=backup.img of=restore.img",
        "dd if=/dev/zero of=/dev/null",
        "The format c: d is explained below.",
        "terraform plan",
        "docker ps",
    ],
)
def test_what_destroys_little_or_nothing_stays(text: str) -> None:
    assert find(text) == []


def test_an_answer_says_whom_to_ask_in_its_language() -> None:
    filtered = remove_secrets("密码：Hx7#mm2024\nrm -rf /", ZH)
    told = tell_whom_to_ask(filtered, ZH, "何秋")
    assert told.count("何秋") == 2
    assert "Hx7" not in told
    english = tell_whom_to_ask(remove_secrets("password: Hx7#mm2024", EN), EN, "")
    assert EN.page_owner in english
    assert tell_whom_to_ask(remove_secrets("nothing", EN), EN, "He Qiu") == "nothing"


async def stream(pieces: Sequence[str]) -> str:
    shown: list[str] = []

    async def show(text: str) -> None:
        shown.append(text)

    filtered = filter_stream(show, EN)
    for piece in pieces:
        await filtered(piece)
    return "".join(shown)


BEGIN, END = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("Use password: Hx7mm2024 to log in. [1]\n", ["Hx7mm2024", "Hx7mm20", "mm2024"]),
        ("Token " + "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7b stays.\n", ["aB3dE6gH9j", "sT1vW4yZ7b"]),
        (f"Key:\n{BEGIN}\nProc-Type: 4\n\nMIIEpAIBAA\nq3L0Kx7Q\n{END}\nDone.\n", ["MIIEp", "q3L0"]),
        ("Then run rm -rf / and wait.\n", ["rm -rf /"]),
    ],
)
async def test_nothing_leaks_wherever_a_stream_is_cut(text: str, secrets: Sequence[str]) -> None:
    for cut in range(len(text)):
        shown = await stream([text[:cut], text[cut:]])
        assert not [one for one in secrets if one in shown]
    assert not [one for one in secrets if one in await stream(list(text))]


async def test_harmless_text_is_shown_as_it_comes() -> None:
    pieces = ["Lunch is at noon. [1]\n", "Tea is at four.\n"]
    assert await stream(pieces) == "".join(pieces)
