"""A REST API whose replies are checked against pydantic models before anybody reads them."""

from dataclasses import dataclass
from typing import TypeVar, Unpack

from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import PermanentError
from core.http import HttpClient, RequestOptions
from core.http_reply import HttpReply

M = TypeVar("M", bound=BaseModel)


class Payload(BaseModel):
    """Base of a vendor's replies: keys we do not name are ignored, values are frozen."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestClient:
    """Asks one API; errors are those of `HttpClient.request`.

    Also raises PermanentError when a reply is JSON but not of the expected form.
    """

    http: HttpClient

    async def get(self, path: str, model: type[M], **options: Unpack[RequestOptions]) -> M:
        """Get an object."""
        return self.parse(await self.http.request_json("GET", path, **options), model, path)

    async def post(self, path: str, model: type[M], **options: Unpack[RequestOptions]) -> M:
        """Post and read an object; set `is_repeatable` where the call only reads."""
        return self.parse(await self.http.request_json("POST", path, **options), model, path)

    async def download(self, url: str, **options: Unpack[RequestOptions]) -> HttpReply:
        """Get a file from an address the service handed out; set `max_bytes`."""
        return await self.http.request("GET", url, **options)

    def parse(self, value: object, model: type[M], where: str) -> M:
        """Check JSON against a model."""
        try:
            return model.model_validate(value)
        except ValidationError as error:
            detail = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in detail["loc"]) or "reply"
            raise PermanentError(
                f"{self.http.place} sent an unexpected reply for {where.partition('?')[0]!r}: "
                f"{field}: {detail['msg']}"
            ) from error

    async def close(self) -> None:
        """Close the connections. Safe to call twice."""
        await self.http.close()
