"""Whether an account sees what it is set up to read, for `zhixing doctor`."""

from connectors.confluence.model import Kind, Space
from connectors.confluence.site import Site
from core.errors import SettingsError


async def check_spaces(site: Site) -> None:
    """Look for a page of each space, and for who may view it: two calls a space.

    Raises:
        SettingsError: Spaces that show no page, or not who may view them; each with its remedy.
        TransientError: The site did not answer.
    """
    faults: list[str] = []
    for key, space in sorted(site.spaces.items()):
        if not await _shows_pages(site, space):
            faults.append(
                f"space {key!r} shows no page to this account; give it the right to view the "
                f"space, or leave the space out of sources.{site.name}.spaces"
            )
            continue
        await site.rights.read_space(space)
        if failure := site.rights.failures.get(key):
            faults.append(failure)
    if faults:
        raise SettingsError(f"{site.api.site}: {'; '.join(faults)}")


async def _shows_pages(site: Site, space: Space) -> bool:
    query = f'space = "{space.key}" and type = {Kind.PAGE.value}'
    async for batch in site.api.search(query):
        return bool(batch.items)
    return False
