from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from core.errors import (
    PermanentError,
    RateLimitedError,
    ServiceUnavailableError,
    SettingsError,
)
from knowledge.embedding.openai_compatible import (
    OpenAICompatibleEmbedder,
    connect_openai_compatible,
)
from tests.contracts.embedder import EmbedderContract

DIMENSION = 8
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class EmbeddingServer:
    """A loopback server with the real path; `respond` replaces its answer."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.respond: Handler | None = None
        self.dimension = DIMENSION
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.keys.append(request.headers["Authorization"])
        if self.respond is not None:
            return await self.respond(request)
        rows = [
            {"object": "embedding", "index": i, "embedding": self.vector(text)}
            for i, text in enumerate(body["input"])
        ]
        # Some servers return rows in the order they finished.
        return web.json_response(
            {"object": "list", "model": body["model"], "data": rows[::-1], "usage": {}}
        )

    def vector(self, text: str) -> list[float]:
        seed = sum(ord(c) * (i + 1) for i, c in enumerate(text)) % 2**32
        return [float(x) for x in np.random.default_rng(seed).normal(size=self.dimension)]


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingServer]:
    double = EmbeddingServer()
    app = web.Application()
    app.router.add_post("/v1/embeddings", double.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    double.url = f"http://{host}:{port}/v1"
    yield double
    await runner.cleanup()


async def connect(server: EmbeddingServer, **options: Any) -> OpenAICompatibleEmbedder:
    return await connect_openai_compatible(
        base_url=server.url, model="embed-1", api_key="k-1", **options
    )


@pytest.fixture
async def embedder(server: EmbeddingServer) -> AsyncIterator[OpenAICompatibleEmbedder]:
    connected = await connect(server)
    yield connected
    await connected.close()


class TestEndpoint(EmbedderContract):
    @pytest.fixture
    async def embedder(self, server: EmbeddingServer) -> AsyncIterator[OpenAICompatibleEmbedder]:
        connected = await connect(server)
        yield connected
        await connected.close()


async def test_floats_are_asked_for_by_name(
    server: EmbeddingServer, embedder: OpenAICompatibleEmbedder
) -> None:
    await embedder.embed_query("hello")
    assert server.bodies[-1]["encoding_format"] == "float"
    assert server.bodies[-1]["model"] == "embed-1"
    assert server.keys[-1] == "Bearer k-1"


async def test_rows_follow_the_index_of_the_reply(
    server: EmbeddingServer, embedder: OpenAICompatibleEmbedder
) -> None:
    vectors = await embedder.embed_passages(["one", "two", "three"])
    expected = np.array([server.vector(t) for t in ("one", "two", "three")], np.float32)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


async def test_many_texts_go_in_batches(
    server: EmbeddingServer, embedder: OpenAICompatibleEmbedder
) -> None:
    before = len(server.bodies)
    vectors = await embedder.embed_passages([f"text {i}" for i in range(150)])
    assert vectors.shape == (150, DIMENSION)
    assert sorted(len(body["input"]) for body in server.bodies[before:]) == [22, 64, 64]


async def test_prefixes_are_put_in_front(server: EmbeddingServer) -> None:
    embedder = await connect(server, query_prefix="q: ", passage_prefix="p: ")
    await embedder.embed_query("a")
    await embedder.embed_passages(["b"])
    assert [body["input"] for body in server.bodies[-2:]] == [["q: a"], ["p: b"]]
    await embedder.close()


async def test_prefixes_change_the_name(server: EmbeddingServer) -> None:
    plain, prefixed = await connect(server), await connect(server, query_prefix="q: ")
    assert plain.name != prefixed.name
    await plain.close()
    await prefixed.close()


async def test_a_given_dimension_needs_no_call(server: EmbeddingServer) -> None:
    embedder = await connect(server, dimension=DIMENSION)
    assert server.bodies == []
    await embedder.close()


async def test_another_dimension_than_set_is_the_operators_to_mend(
    server: EmbeddingServer,
) -> None:
    embedder = await connect(server, dimension=DIMENSION + 1)
    with pytest.raises(SettingsError, match=r"embedding\.dimension"):
        await embedder.embed_query("x")
    await embedder.close()


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, PermanentError),
        (401, SettingsError),
        (403, SettingsError),
        (404, SettingsError),
        (422, PermanentError),
        (429, RateLimitedError),
        (500, ServiceUnavailableError),
        (503, ServiceUnavailableError),
    ],
)
async def test_statuses_are_sorted_by_who_must_act(
    server: EmbeddingServer,
    embedder: OpenAICompatibleEmbedder,
    status: int,
    error: type[Exception],
) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        headers = {"x-should-retry": "false", "Retry-After": "7"}
        return web.json_response({"error": {"message": "no"}}, status=status, headers=headers)

    server.respond = refuse
    with pytest.raises(error, match="embed-1") as caught:
        await embedder.embed_query("x")
    if isinstance(caught.value, RateLimitedError):
        assert caught.value.retry_after_s == 7.0


async def test_a_web_page_instead_of_vectors_points_at_the_base_url(
    server: EmbeddingServer, embedder: OpenAICompatibleEmbedder
) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(text="<html>welcome</html>", content_type="text/html")

    server.respond = page
    with pytest.raises(SettingsError, match="base_url"):
        await embedder.embed_query("x")


async def test_a_missing_row_is_not_taken_for_an_answer(
    server: EmbeddingServer, embedder: OpenAICompatibleEmbedder
) -> None:
    async def short(_: web.Request) -> web.StreamResponse:
        rows = [{"object": "embedding", "index": 0, "embedding": [1.0] * DIMENSION}]
        return web.json_response({"object": "list", "model": "m", "data": rows})

    server.respond = short
    with pytest.raises(ServiceUnavailableError, match="1 vectors for 2 texts"):
        await embedder.embed_passages(["a", "b"])


async def test_rows_of_several_lengths_are_refused(
    server: EmbeddingServer, embedder: OpenAICompatibleEmbedder
) -> None:
    async def uneven(_: web.Request) -> web.StreamResponse:
        rows = [{"index": i, "embedding": [1.0] * (i + 1)} for i in range(2)]
        return web.json_response({"object": "list", "model": "m", "data": rows})

    server.respond = uneven
    with pytest.raises(ServiceUnavailableError, match="several lengths"):
        await embedder.embed_passages(["a", "b"])


async def test_a_closed_port_is_a_service_that_does_not_answer() -> None:
    with pytest.raises(ServiceUnavailableError, match="does not answer"):
        await connect_openai_compatible(
            base_url="http://127.0.0.1:9/v1", model="embed-1", timeout_s=5
        )


async def test_a_model_must_be_named() -> None:
    with pytest.raises(SettingsError, match=r"embedding\.model"):
        await connect_openai_compatible(base_url="http://127.0.0.1:9/v1", model="")
