"""What a piece of work has used of models."""

import asyncio

from core.models import Usage
from core.models.metering import Meter, count_usage, running

ONE = Usage(calls=1, prompt_tokens=10, completion_tokens=2, cost=0.5)


async def call() -> None:
    await asyncio.sleep(0)
    count_usage(ONE)


async def test_calls_of_tasks_begun_meanwhile_count_and_others_do_not() -> None:
    first, second = Meter(), Meter()

    async def work(meter: Meter, times: int) -> None:
        with running(meter):
            async with asyncio.TaskGroup() as group:
                for _ in range(times):
                    group.create_task(call())

    await asyncio.gather(work(first, 1), work(second, 3), call())
    assert (first.usage, second.usage.calls) == (ONE, 3)


def test_a_lap_is_what_came_since_the_last_one() -> None:
    meter = Meter()
    with running(meter):
        count_usage(ONE)
        assert meter.take_lap() == ONE
        assert meter.take_lap() == Usage()
        count_usage(ONE)
    count_usage(ONE)
    assert meter.take_lap() == ONE
    assert meter.usage.calls == 2
