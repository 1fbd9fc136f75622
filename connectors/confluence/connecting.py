"""From settings to a site that can be asked."""

import base64

from connectors.confluence.cloud import CloudApi
from connectors.confluence.data_center import DataCenterApi
from connectors.confluence.model import ConfluenceApi
from connectors.rest import RestClient
from core.clock import Clock
from core.errors import SettingsError
from core.http import HttpClient, HttpLimits
from core.pacing import Timing
from core.settings import ConfluenceSettings


def connect(
    name: str, settings: ConfluenceSettings, clock: Clock, *, timing: Timing | None = None
) -> ConfluenceApi:
    """Return the site that the settings of a source describe; nothing is asked yet.

    Raises:
        SettingsError: There is no token, or the address is none.
    """
    token = settings.token.get_secret_value()
    if not token:
        raise SettingsError(
            f"source {name!r} has no token; set sources.{name}.token_variable to the environment "
            "variable that holds it"
        )
    service = settings.service
    http = HttpClient(
        base_url=settings.url,
        place=f"Confluence {settings.url!r}",
        credentials={"Authorization": _build_authorization(settings.email, token)},
        remedy=f"check sources.{name}.url, its token and what its account may read",
        limits=HttpLimits(
            timeout_s=service.timeout_s,
            max_concurrent=service.max_concurrent,
            max_calls_per_s=service.max_calls_per_s,
        ),
        clock=clock,
        timing=timing or Timing(),
    )
    rest = RestClient(http=http)
    if settings.flavour == "cloud":
        return CloudApi(rest=rest)
    return DataCenterApi(rest=rest)


def _build_authorization(email: str, token: str) -> str:
    if not email:
        return f"Bearer {token}"
    return "Basic " + base64.b64encode(f"{email}:{token}".encode()).decode()
