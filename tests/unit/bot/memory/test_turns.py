from datetime import UTC, datetime

from bot.memory.turns import TURNS_KEPT, Turn, TurnStore
from core.database import Database
from knowledge.documents import PassageId

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def turn(number: int) -> Turn:
    return Turn(at=NOW, question=f"q{number}", answer=f"a{number}", passages=(PassageId("p"),))


async def test_the_last_turns_of_a_person_in_a_thread_come_back_in_order(
    database: Database,
) -> None:
    store = TurnStore(database)
    for number in range(TURNS_KEPT + 3):
        await store.append("t1", "li", turn(number))
    await store.append("t1", "wang", turn(100))
    await store.append("t2", "li", turn(200))
    found = await store.load("t1", "li")
    assert [one.question for one in found] == [f"q{n}" for n in range(3, TURNS_KEPT + 3)]
    assert found[0] == turn(3)
    assert [one.question for one in await store.load("t1", "wang")] == ["q100"]


async def test_forgetting_a_person_leaves_the_others(database: Database) -> None:
    store = TurnStore(database)
    await store.append("t1", "li", turn(1))
    await store.append("t1", "wang", turn(2))
    assert await store.forget("li") == 1
    assert await store.load("t1", "li") == []
    assert await store.load("t1", "wang") == [turn(2)]
