"""The adaptive cut: few hits when one stands out, more when several are nearly as good."""

from collections.abc import Sequence

from knowledge.documents import Hit

NEAR_TIE_SHARE = 0.03
MOST_TIES = 3


def cut_hits(hits: Sequence[Hit], *, limit: int) -> list[Hit]:
    """Keep `limit` hits, and up to `MOST_TIES` more whose score nearly equals the last kept one.

    Nearly equal = within `NEAR_TIE_SHARE` of the range between the best and the last kept score.
    """
    kept = list(hits[:limit])
    if len(kept) < limit or limit == 0:
        return kept
    tolerance = NEAR_TIE_SHARE * (kept[0].score - kept[-1].score)
    floor = kept[-1].score - tolerance
    for hit in hits[limit : limit + MOST_TIES]:
        if hit.score < floor:
            break
        kept.append(hit)
    return kept
