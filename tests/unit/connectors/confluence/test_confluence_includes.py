from connectors.confluence.source import ConfluenceSource
from knowledge.access import AccessRule
from knowledge.documents import BodyPart
from knowledge.source import AccessChanged, Unchanged, Upserted
from tests.unit.connectors.confluence.conftest import Bench

STAFF, FINANCE = "group:wiki/staff", "group:wiki/finance"


def include(title: str, space: str = "", *, macro: str = "include", name: str = "") -> str:
    key = f' ri:space-key="{space}"' if space else ""
    named = f'<ac:parameter ac:name="name">{name}</ac:parameter>' if name else ""
    return (
        f'<ac:structured-macro ac:name="{macro}">{named}<ac:parameter ac:name="">'
        f'<ac:link><ri:page{key} ri:content-title="{title}"/></ac:link></ac:parameter>'
        "</ac:structured-macro>"
    )


async def read(bench: Bench, source: ConfluenceSource, body: str) -> tuple[BodyPart, ...]:
    bench.edit.edit("2", body)
    await bench.sync(source)
    return bench.documents["2"].content.parts


async def test_included_text_stands_under_both_rules(bench: Bench) -> None:
    body = f"<p>Before</p>{include('Budget', 'FIN')}<p>After</p>"
    before, included, after = await read(bench, bench.open(), body)
    assert (before.markdown, before.included_rule) == ("Before", None)
    assert (after.markdown, after.included_rule) == ("After", None)
    assert included.markdown == "One million"
    assert included.included_from == "wiki:5"
    assert included.included_rule == AccessRule.of([FINANCE, "user:dan"])


async def test_pages_included_in_included_pages_join_all_rules(bench: Bench) -> None:
    bench.edit.edit("5", f"<p>Sum</p>{include('Bonus', 'HR')}")
    _, inner = await read(bench, bench.open(), include("Budget", "FIN"))
    assert inner.markdown == "Ten percent"
    assert inner.included_rule == AccessRule.of(
        [STAFF], ["user:ann", FINANCE], [FINANCE, "user:dan"]
    )


async def test_the_page_named_by_the_space_is_meant_and_no_namesake(bench: Bench) -> None:
    bench.edit.add_page("HR", "Budget", "<p>Parties</p>", page_id="50")
    source = bench.open()
    (own,) = await read(bench, source, include("Budget"))
    assert own.markdown == "Parties"
    (other,) = await read(bench, source, include("Budget", "FIN"))
    assert other.markdown == "One million"


async def test_an_excerpt_shows_the_excerpt_alone(bench: Bench) -> None:
    excerpt = (
        '<ac:structured-macro ac:name="excerpt">{}<ac:rich-text-body><p>{}</p>'
        "</ac:rich-text-body></ac:structured-macro>"
    )
    named = excerpt.format('<ac:parameter ac:name="name">b</ac:parameter>', "named")
    bench.edit.edit("5", f"<p>no</p>{excerpt.format('', 'plain')}{named}")
    source = bench.open()
    (shown,) = await read(bench, source, include("Budget", "FIN", macro="excerpt-include"))
    assert shown.markdown == "plain"
    body = include("Budget", "FIN", macro="excerpt-include", name="b")
    (shown,) = await read(bench, source, body)
    assert shown.markdown == "named"


async def test_pages_that_include_each_other_end(bench: Bench) -> None:
    bench.edit.edit("1", f"<p>home</p>{include('Leave 休假')}")
    parts = await read(bench, bench.open(), f"<p>leave</p>{include('Home')}")
    assert [part.markdown for part in parts] == ["leave", "home"]
    assert "includes itself" in bench.documents["2"].notes[0]


async def test_a_missing_page_is_noted_and_shown_once_it_is_there(bench: Bench) -> None:
    source = bench.open()
    (text,) = await read(bench, source, f"<p>own</p>{include('Later', 'FIN')}")
    assert text.markdown == "own"
    assert "'FIN/Later' was not found" in bench.documents["2"].notes[0]
    bench.edit.add_page("FIN", "Later", "<p>here</p>", page_id="60")
    run = await bench.sync(source, afresh=True)
    assert sorted(run.ids(Upserted)) == ["2", "60"]
    assert "here" in bench.text("2")


async def test_a_change_of_the_included_page_is_a_change_of_the_including_one(
    bench: Bench,
) -> None:
    source = bench.open()
    await read(bench, source, include("Budget", "FIN"))
    bench.clock.forward(days=1)
    bench.edit.edit("5", "<p>Two million</p>")
    run = await bench.sync(source)
    assert sorted(run.ids(Upserted)) == ["2", "5"]
    assert bench.text("2") == "Two million"
    assert bench.documents["2"].content.version.at == bench.clock.moment
    assert (await bench.sync(source, afresh=True)).ids(Upserted) == []
    bench.edit.set_status("5", "trashed")
    bench.edit.add_page("FIN", "Other", "<p>x</p>")
    run = await bench.sync(source, afresh=True)
    assert "2" in run.ids(Upserted)
    assert bench.text("2") == ""


async def test_a_new_rule_of_the_included_page_reads_the_including_one_again(
    bench: Bench,
) -> None:
    source = bench.open()
    await read(bench, source, include("Bonus", "HR"))
    bench.edit.restrict("4", users=["bo"])
    run = await bench.rights(source)
    assert run.ids(AccessChanged) == ["4"]
    assert run.ids(Upserted) == ["2"]
    rule = bench.documents["2"].content.parts[0].included_rule
    assert rule == AccessRule.of([STAFF], ["user:ann", FINANCE], ["user:bo"])


async def test_spaces_that_are_not_read_can_be_included(bench: Bench) -> None:
    source = bench.open(spaces=["HR"])
    (part,) = await read(bench, source, include("Budget", "FIN"))
    assert part.included_rule == AccessRule.of([FINANCE, "user:dan"])
    assert "wiki:5" not in bench.known
    run = await bench.sync(bench.open(spaces=["HR"]), afresh=True)
    assert "2" in run.ids(Unchanged)
    bench.edit.edit("5", "<p>Two million</p>")
    run = await bench.sync(bench.open(spaces=["HR"]), afresh=True)
    assert run.ids(Upserted) == ["2"]


async def test_includes_inside_tables_come_after_them(bench: Bench) -> None:
    body = (
        f"<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>{include('Home')}</td></tr></table>"
    )
    table, included = await read(bench, bench.open(), body)
    assert table.markdown == "| a | b |\n| --- | --- |\n| 1 |  |"
    assert included.markdown == "Welcome"


async def test_links_to_pages_and_attachments_are_kept(bench: Bench) -> None:
    file = bench.edit.attach("2", "days.csv", b"a,b\n1,2")
    source = bench.open()
    await bench.sync(source)
    site = bench.server.base_url
    body = (
        '<p><ac:link><ri:page ri:content-title="Budget" ri:space-key="FIN"/></ac:link> '
        '<ac:link><ri:attachment ri:filename="days.csv"/></ac:link> '
        f'<a href="{site}/spaces/HR/pages/3/Pay">pay</a> '
        f'<a href="{site}/spaces/HR/pages/4/Bonus+rules">{site}/spaces/HR/pages/4/Bonus+rules</a>'
        "</p>"
    )
    (part,) = await read(bench, source, body)
    assert part.markdown == "Budget days.csv pay Bonus rules"
    links = {link.target: link.text for link in bench.documents["2"].links}
    assert links == {
        "wiki:5": "Budget",
        "wiki:3": "pay",
        "wiki:4": "Bonus rules",
        f"wiki:{file.file_id}": "days.csv",
    }
    fresh = bench.open()
    run = await bench.sync(fresh)
    assert not run.ids(Upserted)
    bench.edit.edit("2", body + "<p>more</p>")
    await bench.sync(bench.open())
    assert "wiki:5" in {link.target for link in bench.documents["2"].links}
