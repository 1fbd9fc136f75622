"""The pages as a role of `zhixing serve`."""

import asyncio
import socket

import pytest
from aiohttp import ClientSession

from bot.serving import Role, serve_admin_beside, serve_roles
from core.admin_settings import AdminSettings
from core.errors import PortTakenError
from tests.unit.bot.office import Office


def find_free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def test_the_role_serves_the_pages_until_told_to_stop(office: Office) -> None:
    port = find_free_port()
    office.add_settings(f"[admin]\nport = {port}")
    stop = asyncio.Event()
    async with office.open() as product, ClientSession() as session:
        serving = asyncio.create_task(serve_roles(product, Role.ADMIN, stop))
        try:
            async with asyncio.timeout(30):
                while True:
                    try:
                        async with session.get(f"http://127.0.0.1:{port}/") as reply:
                            assert reply.status == 401
                            break
                    except OSError:
                        assert not serving.done()
                        await asyncio.sleep(0.02)
        finally:
            stop.set()
            await serving


async def test_a_taken_port_ends_the_role_and_leaves_other_parts_be(office: Office) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        office.add_settings(f"[admin]\nport = {taken.getsockname()[1]}")
        stop = asyncio.Event()
        async with office.open() as product:
            assert product.state.settings.admin == AdminSettings(port=taken.getsockname()[1])
            await serve_admin_beside(product, stop)
            with pytest.raises(ExceptionGroup) as failed:
                await serve_roles(product, Role.ADMIN, stop)
        assert failed.group_contains(PortTakenError, match=r"admin\.port")
