"""Preferences among candidates that words and vectors do not express. Pure.

Each adds a small share of the score range: enough to order near ties, never enough to lift a page
that does not speak of the matter.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from knowledge.analysis import fold, is_said
from knowledge.documents import Hit, PassageKind

HOW_TO_SHARE = 0.2
METADATA_SHARE = 0.06

_ASKS_FOR_STEPS = re.compile(
    r"怎么(?!样)|怎样|如何|咋|步骤|流程|办法|处理|解决|修复|恢复|清理|排查|报错|失败|故障"
    r"|\bhow (?:do|to|can|should)\b|\bsteps?\b|\bfix\b|\bresolve\b|\btroubleshoot|\bclean up\b"
    r"|\brecover\b|\berror\b|\bfail(?:s|ed|ure)?\b",
    re.IGNORECASE,
)
_GUIDES = re.compile(
    r"指南|手册|步骤|流程|操作|处理|排查|清理|恢复|教程|怎么|如何|应急"
    r"|\bhow to\b|\bguide\b|\brunbook\b|\bplaybook\b|\bsteps\b|\bprocedure\b|\btroubleshoot"
    r"|\bclean(?:ing)? ?up\b|\brecovery\b",
    re.IGNORECASE,
)

_BACKGROUND = re.compile(
    r"背景|原理|概念|概述|简介|介绍|科普"
    r"|\bbackground\b|\boverview\b|\bintroduction\b|\bconcepts?\b|\bhow .{1,30} works?\b",
    re.IGNORECASE,
)


def asks_for_steps(question: str) -> bool:
    """Tell whether the question wants to get something done or mended."""
    return _ASKS_FOR_STEPS.search(question) is not None


def prefer_guides(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Lift instructions above background pages when the question wants something done.

    Instructions are steps and commands, and pages whose title or headings call themselves so;
    background is what calls itself so.
    """
    if not asks_for_steps(question):
        return list(hits)
    return _lift(hits, [_guide_share(hit) * HOW_TO_SHARE for hit in hits], "guides")


def prefer_metadata(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Lift hits whose labels, space or source the question names."""
    asked = fold(question)
    shares = [
        METADATA_SHARE if any(is_said(name, asked) for name in _names(hit)) else 0.0 for hit in hits
    ]
    return _lift(hits, shares, "metadata")


def _guide_share(hit: Hit) -> float:
    names = " / ".join((hit.title, *hit.heading_path))
    if _BACKGROUND.search(names):
        return -1.0
    share = 0.5 if _GUIDES.search(names) else 0.0
    return share + (0.5 if hit.kind in {PassageKind.STEPS, PassageKind.CODE} else 0.0)


def _names(hit: Hit) -> set[str]:
    return {fold(name) for name in (*hit.labels, hit.space, hit.source) if len(name.strip()) > 1}


def _lift(hits: Sequence[Hit], shares: Sequence[float], stage: str) -> list[Hit]:
    if not any(shares):
        return list(hits)
    best = max(hit.score for hit in hits)
    spread = (best - min(hit.score for hit in hits)) or abs(best) or 1.0
    lifted = [
        replace(hit, score=score, scores={**hit.scores, stage: score})
        for hit, share in zip(hits, shares, strict=True)
        for score in [hit.score + share * spread]
    ]
    return sorted(lifted, key=lambda hit: (-hit.score, hit.passage_id))
