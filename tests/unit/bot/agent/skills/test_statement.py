import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.skills.definition import RowRights
from bot.agent.skills.statement import StatementError, bind_rights, read_statement
from tests.unit.bot.agent.skills.bench import ANN, make_claims

OWN = RowRights(own="owner")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1; SELECT 2",
        "DELETE FROM claims",
        "WITH gone AS (DELETE FROM claims RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copy FROM claims",
        "SELECT * FROM claims FOR UPDATE",
        "PRAGMA writable_schema = 1",
        "ATTACH 'x' AS y",
        "EXPLAIN SELECT 1",
        "VALUES (1)",
        "TABLE claims",
        "",
        "SELECT 'unfinished",
    ],
)
def test_only_one_select_passes(text: str) -> None:
    with pytest.raises(StatementError):
        read_statement(text, dialect="sqlite")


@pytest.mark.parametrize(
    "text",
    [
        # Each could read the table past the rights, one way or another.
        "SELECT 'C1' IN claims",
        "SELECT * FROM (WITH claims AS (SELECT 1 AS a) SELECT * FROM claims) x, claims",
        "WITH claims AS (SELECT * FROM main.claims) SELECT * FROM claims",
        "WITH a AS (SELECT * FROM claims), claims AS (SELECT 1) SELECT * FROM a",
    ],
)
def test_what_rights_can_not_be_bound_to_is_refused(text: str) -> None:
    with pytest.raises(StatementError):
        read_statement(text, dialect="sqlite")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT id FROM claims ORDER BY id", ["C1", "C2"]),
        ("SELECT c.id FROM claims AS c ORDER BY 1", ["C1", "C2"]),
        ("SELECT id FROM main.claims ORDER BY 1", ["C1", "C2"]),
        ('SELECT id FROM "CLAIMS" ORDER BY 1', ["C1", "C2"]),
        ("SELECT sum(amount) FROM claims", [150]),
        ("SELECT count(*) FROM claims a, claims b", [4]),
        ("SELECT id FROM claims UNION SELECT id FROM claims ORDER BY 1", ["C1", "C2"]),
        ("SELECT (SELECT max(amount) FROM claims)", [100]),
        ("SELECT 1 WHERE EXISTS (SELECT 1 FROM claims WHERE id = 'C3')", []),
        ("WITH x AS (SELECT * FROM claims) SELECT id FROM x ORDER BY 1", ["C1", "C2"]),
        ("SELECT id FROM claims -- all of them\nWHERE status /* or not */ = 'open'", ["C1"]),
        ("SELECT claims.id FROM claims JOIN steps ON claim_id = claims.id", ["C1"]),
        ("SELECT claim_id FROM steps", ["C1"]),
        ("SELECT s.secret FROM steps s", ["ann-note"]),
    ],
)
def test_every_use_of_a_table_sees_the_asker_rows_only(
    tmp_path: Path, text: str, wanted: list[object]
) -> None:
    make_claims(tmp_path / "erp.sqlite")
    via = RowRights(own="owner", via="claims", key="claim_id")
    limited, names = bind_rights(
        read_statement(text, dialect="sqlite"), {"claims": OWN, "steps": via}
    )
    for name in names:
        limited = limited.replace(f":{name}", f"('{ANN}')")
    connection = sqlite3.connect(tmp_path / "erp.sqlite")
    assert [row[0] for row in connection.execute(limited)] == wanted
    connection.close()


@given(
    alias=st.sampled_from(["", " AS c", " c"]),
    schema=st.sampled_from(["", "main.", '"main".']),
    table=st.sampled_from(["claims", "CLAIMS", '"claims"', "[claims]", "`claims`"]),
    blanks=st.sampled_from([" ", "\n", " /* FROM steps */ ", " -- x\n "]),
)
def test_however_a_table_is_written_it_is_found(
    alias: str, schema: str, table: str, blanks: str
) -> None:
    statement = read_statement(
        f"SELECT count(*){blanks}FROM{blanks}{schema}{table}{alias}", dialect="sqlite"
    )
    assert statement.tables == {"claims"}
    limited, names = bind_rights(statement, {"claims": OWN})
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE claims (owner); INSERT INTO claims VALUES ('a'), ('b')")
    [name] = names
    found = connection.execute(limited.replace(f":{name}", "('a')")).fetchone()
    connection.close()
    assert found == (1,)


def test_tables_without_limits_stay_as_they_are() -> None:
    text = "SELECT * FROM employees, claims"
    limited, names = bind_rights(read_statement(text, dialect="sqlite"), {})
    assert (limited, names) == (text, {})


@pytest.mark.parametrize("dialect", ["postgresql", "mysql", "mssql", "oracle", "unheard_of"])
def test_other_kinds_of_database_are_read_as_well(dialect: str) -> None:
    statement = read_statement("SELECT c.id FROM shop.claims c WHERE c.id = :id;", dialect=dialect)
    assert statement.tables == {"claims"}
    assert statement.names == {"id"}
    limited, _ = bind_rights(statement, {"claims": OWN})
    assert limited.startswith("SELECT c.id FROM (SELECT * FROM shop.claims WHERE owner IN :")
