"""Embedders behind an OpenAI-compatible endpoint."""

import asyncio
import hashlib
from collections.abc import Sequence

import numpy as np
import openai
from pydantic import BaseModel, ConfigDict, ValidationError

from core.errors import (
    PermanentError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
    ZhixingError,
)
from knowledge.embedding import Vectors
from knowledge.embedding.token_estimate import estimate_tokens
from knowledge.embedding.vectors import normalise_rows

_BATCH_TEXTS = 64
_CONCURRENT_BATCHES = 4
_RETRIES = 2
_DEFAULT_RETRY_AFTER_S = 10.0
_DEFAULT_MAX_TOKENS = 512
_SERVER_FAULT = 500


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")

    index: int
    embedding: list[float]


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    data: list[_Row]


class OpenAICompatibleEmbedder:
    """Asks `POST {base_url}/embeddings`.

    The server's tokeniser is unknown, so tokens are estimated and passages are kept to
    `max_tokens` of them.
    """

    def __init__(
        self,
        *,
        client: openai.AsyncOpenAI,
        model: str,
        dimension: int,
        query_prefix: str = "",
        passage_prefix: str = "",
        max_tokens: int = _DEFAULT_MAX_TOKENS,
    ) -> None:
        """Wrap a client; use `connect_openai_compatible` to make one and learn the dimension."""
        self._client = client
        self._model = model
        self._dimension = dimension
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._max_tokens = max_tokens
        self._slots = asyncio.Semaphore(_CONCURRENT_BATCHES)

    @property
    def name(self) -> str:
        """Endpoint, model, dimension and the prefixes' hash."""
        prefixes = f"{self._query_prefix}\0{self._passage_prefix}".encode()
        digest = hashlib.sha256(prefixes).hexdigest()[:8]
        return f"{self._client.base_url.host}/{self._model}@{self._dimension}+{digest}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Estimated tokens a passage may have."""
        return self._max_tokens

    def count_tokens(self, text: str) -> int:
        """Estimate tokens by a rule for Chinese characters and words."""
        return estimate_tokens(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dimension), rows in the order of the texts.

        Raises:
            TransientError: The endpoint is down, slow, or limits the rate.
            SettingsError: It refuses the key or the model, or vectors have another length.
            PermanentError: It refuses the texts.
        """
        prefixed = [self._passage_prefix + text for text in texts]
        batches = [prefixed[i : i + _BATCH_TEXTS] for i in range(0, len(prefixed), _BATCH_TEXTS)]
        if not batches:
            return np.empty((0, self._dimension), np.float32)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._fetch_limited(batch)) for batch in batches]
        except ExceptionGroup as failures:
            # One cause is enough: the first failure cancels the other batches.
            raise failures.exceptions[0] from failures
        return np.concatenate([task.result() for task in tasks])

    async def embed_query(self, text: str) -> Vectors:
        """Return (dimension,). Raises as `embed_passages`."""
        vectors = await self._fetch([self._query_prefix + text])
        return vectors.reshape(self._dimension)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _fetch_limited(self, texts: list[str]) -> Vectors:
        async with self._slots:
            return await self._fetch(texts)

    async def _fetch(self, texts: list[str]) -> Vectors:
        vectors = await fetch_embeddings(self._client, self._model, texts)
        if vectors.shape[1] != self._dimension:
            raise SettingsError(
                f"embedding model {self._model!r} at {str(self._client.base_url)!r} returned "
                f"vectors of length {vectors.shape[1]}, expected {self._dimension}; set "
                "embedding.dimension to what the model makes"
            )
        return vectors


async def connect_openai_compatible(
    *,
    base_url: str,
    model: str,
    api_key: str = "",
    dimension: int = 0,
    query_prefix: str = "",
    passage_prefix: str = "",
    timeout_s: float = 60.0,
) -> OpenAICompatibleEmbedder:
    """Make an embedder; with dimension 0 the endpoint is asked once to learn it.

    Raises:
        SettingsError: No model is named, or the endpoint refuses it.
        TransientError: The endpoint does not answer.
    """
    if not model:
        raise SettingsError("embedding.kind 'openai_compatible' needs embedding.model")
    # Many local servers take no key, and the client refuses an empty one.
    client = openai.AsyncOpenAI(
        base_url=base_url or None,
        api_key=api_key or "none",
        timeout=timeout_s,
        max_retries=_RETRIES,
    )
    if not dimension:
        try:
            vectors = await fetch_embeddings(client, model, ["dimension"])
        except ZhixingError:
            await client.close()
            raise
        dimension = vectors.shape[1]
    return OpenAICompatibleEmbedder(
        client=client,
        model=model,
        dimension=dimension,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
    )


async def fetch_embeddings(client: openai.AsyncOpenAI, model: str, texts: list[str]) -> Vectors:
    """Ask for one batch, and return normalised rows in the order of the texts.

    Raises:
        TransientError, SettingsError, PermanentError: as `embed_passages`.
    """
    where = f"embedding model {model!r} at {str(client.base_url)!r}"
    try:
        # The client asks for base64 by default, which several servers refuse or misread.
        reply = await client.embeddings.create(model=model, input=texts, encoding_format="float")
    except openai.APIError as error:
        raise _translate(error, where) from error
    rows = _parse_rows(reply, where)
    if [row.index for row in rows] != list(range(len(texts))):
        raise ServiceUnavailableError(
            f"{where} returned {len(rows)} vectors for {len(texts)} texts; ask again later"
        )
    if len({len(row.embedding) for row in rows}) != 1:
        raise ServiceUnavailableError(f"{where} returned vectors of several lengths")
    return normalise_rows(np.array([row.embedding for row in rows], np.float32))


def _parse_rows(reply: object, where: str) -> list[_Row]:
    """Check the reply's shape: a wrong path often answers 200 with a web page."""
    try:
        parsed = _Reply.model_validate(reply, from_attributes=True)
    except ValidationError as error:
        raise SettingsError(
            f"{where} did not answer with embeddings; check that embedding.base_url ends in the "
            "path of the API, such as /v1"
        ) from error
    return sorted(parsed.data, key=lambda row: row.index)


def _translate(error: openai.APIError, where: str) -> ZhixingError:
    match error:
        case openai.RateLimitError():
            return RateLimitedError(
                f"{where} limits the rate (429)", retry_after_s=_retry_after_s(error)
            )
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return SettingsError(f"{where} answered {error.status_code}; check embedding.api_key")
        case openai.NotFoundError():
            return SettingsError(
                f"{where} answered 404; check embedding.model and embedding.base_url"
            )
        case openai.APIStatusError() if error.status_code < _SERVER_FAULT:
            return PermanentError(f"{where} refused the texts ({error.status_code}): {error}")
        case _:
            return ServiceUnavailableError(f"{where} does not answer: {error}")


def _retry_after_s(error: openai.RateLimitError) -> float:
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:
        return _DEFAULT_RETRY_AFTER_S
