"""Filters by when a page was changed last.

The index keeps with a row the version that wrote it, for unchanged text is not written again; when
the page itself changed last stands in the ledger.
"""

from dataclasses import replace

from knowledge.access import NOTHING
from knowledge.ledger import Ledger
from knowledge.stores import PassageFilter


async def resolve_dates(ledger: Ledger, where: PassageFilter) -> PassageFilter:
    """Name the pages that bounds on the last change admit, in place of the bounds.

    Text as of a moment keeps them: there the version counts that was in force.
    """
    after, before = where.updated_after, where.updated_before
    if (after is None and before is None) or where.as_of is not None:
        return where
    found = await ledger.find_updated(after=after, before=before)
    documents = found & where.documents if where.documents else found
    # No names would stand for every page.
    access = where.access if documents else NOTHING
    return replace(
        where, access=access, documents=documents, updated_after=None, updated_before=None
    )
