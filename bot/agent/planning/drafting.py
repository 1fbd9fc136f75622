"""Drafts of e-mails from a person's own words, and from pages where these point to them."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from bot.agent.caller import Caller, describe_person
from bot.agent.name_index import NameIndex
from bot.agent.planning.email_words import EmailWords, read_email_request
from bot.agent.planning.people_found import find_described_people
from bot.agent.planning.requests import Request
from bot.rag.language import Language, detect_language
from knowledge.access import ReadableClasses
from knowledge.analysis import Analyser
from knowledge.documents import Hit
from knowledge.people import PersonId
from knowledge.retrieval import Evidence, Retrieval

SEND_EMAIL = "send_email"
_SUBJECT_CHARS = 60
_ONESELF = re.compile(r"^(?:我|我自己|me|myself)$", re.IGNORECASE)

Search = Callable[[str, ReadableClasses], Awaitable[Retrieval]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An action as far as it could be made out.

    Attributes:
        missing: What has to be asked for: `recipient`, `content`; empty = it is complete.
        options: Who may be meant, where a name fits several.
        from_pages: Parameters whose values were read on a page.
        cited: The pages they were read on.
    """

    skill: str
    parameters: Mapping[str, JsonValue]
    missing: str = ""
    options: tuple[str, ...] = ()
    from_pages: frozenset[str] = frozenset()
    cited: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recipients:
    people: tuple[PersonId, ...] = ()
    options: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class EmailDrafter:
    """Drafts e-mails: the person's own sentences, to the people they name or describe."""

    def __init__(self, search: Search, analyser: Analyser) -> None:
        self._search = search
        self._analyser = analyser

    async def draft(self, text: str, request: Request, caller: Caller) -> Draft:
        """Draft what a request asks for; nothing is sent."""
        words = read_email_request(text, request)
        found = _Recipients()
        if not words.addresses:
            found = await self._find_recipients(words, caller)
        if found.options:
            return Draft(
                skill=SEND_EMAIL, parameters={}, missing="recipient", options=found.options
            )
        people = [caller.directory.people[one] for one in found.people]
        to = list(words.addresses) or [one.email for one in people if one.email]
        content = self._compose(words, found)
        if not to or not content:
            missing = "content" if to else "recipient"
            return Draft(skill=SEND_EMAIL, parameters={}, missing=missing)
        names = [one.name for one in people]
        language = detect_language(text)
        body = _write_body(content, names, caller, language)
        return Draft(
            skill=SEND_EMAIL,
            parameters={"to": [*to], "cc": [], "subject": write_subject(content), "body": body},
            from_pages=frozenset({"to"}) if found.evidence else frozenset(),
            cited=tuple(one.hit for one in found.evidence),
        )

    async def _find_recipients(self, words: EmailWords, caller: Caller) -> _Recipients:
        names = NameIndex.of(caller.directory)
        own = {caller.person.person_id} if caller.person else set()
        if not words.who:
            return _Recipients()
        if _ONESELF.match(words.who):
            return _Recipients(people=tuple(own))
        named = names.find(words.who)
        if unclear := [one for one in named if len(one.people) > 1]:
            options = tuple(describe_person(one, caller) for one in unclear[0].people)
            return _Recipients(options=options)
        if named:
            return _Recipients(people=tuple(dict.fromkeys(one.people[0] for one in named)))
        # In a room the draft is seen by all, so only what all may read may go into it.
        readable = caller.reader.audience_readable
        description = f"{words.before} {words.who}".strip()
        retrieval = await self._search(description, readable)
        evidence = tuple(retrieval.evidence)
        people = find_described_people(description, evidence, names, self._analyser)
        return _Recipients(
            people=tuple(one for one in people if one not in own), evidence=evidence[:1]
        )

    def _compose(self, words: EmailWords, found: _Recipients) -> str:
        """Return what the e-mail says; what it is about is quoted where a code names it."""
        codes = set(self._analyser.codes(words.before))
        parts = [words.before] if words.before and (codes or not words.what) else []
        parts += [words.what] if words.what else []
        if codes:
            lines = [
                line.strip()
                for one in found.evidence
                for line in one.section_text.split("\n")
                if codes <= set(self._analyser.codes(line))
            ]
            parts += lines[:1]
        return "\n\n".join(parts)


def write_subject(content: str) -> str:
    """Return the first sentence, shortened where it is long."""
    first = re.split(r"[\n。！？!?]|\. ", content, maxsplit=1)[0].strip(" ，,。.")
    return first if len(first) <= _SUBJECT_CHARS else first[: _SUBJECT_CHARS - 1] + "…"


def _write_body(content: str, names: Sequence[str], caller: Caller, language: Language) -> str:
    sender = caller.person.name if caller.person else ""
    content = content[0].upper() + content[1:]
    if language == "zh":
        ended = content if content[-1] in "。！？!?|" else f"{content}。"
        return "\n\n".join(
            filter(None, ("、".join(names) + "，您好：" if names else "您好：", ended, sender))
        )
    ended = content if content[-1] in ".!?|" else f"{content}."
    greeting = f"Hello {', '.join(names)}," if names else "Hello,"
    return "\n\n".join(filter(None, (greeting, ended, sender)))
