from datetime import timedelta

import pytest

from core.errors import SettingsError
from knowledge.access import NOBODY, AccessRule
from knowledge.documents import Status
from knowledge.source import Checkpoint, Gone, ScopeListed, Unchanged, Upserted
from tests.unit.connectors.confluence.conftest import NOW, Bench

STAFF, FINANCE = "group:wiki/staff", "group:wiki/finance"


async def test_pages_become_documents_with_all_that_is_said_of_them(bench: Bench) -> None:
    bench.edit.set_labels("2", ["policy", "hr"])
    bench.clock.forward(days=1)
    bench.edit.edit(
        "2",
        "<h2>Days</h2><p>30 days, ask <ac:link><ri:user ri:account-id='acc:bo'/></ac:link></p>"
        '<p>See <ac:link><ri:page ri:content-title="Home"/></ac:link></p>'.replace("'", '"'),
        by="ann",
        message="more days",
    )
    run = await bench.sync(bench.open())
    assert sorted(run.documents) == ["1", "2", "3", "4", "5"]
    page = run.documents["2"]
    assert page.document_id == "wiki:2"
    assert page.content.title == "Leave 休假"
    assert page.content.parts[0].markdown == "## Days\n\n30 days, ask @Bo\n\nSee Home"
    assert (page.content.version.number, page.content.version.label) == (2, "v2")
    assert page.content.version.at == NOW + timedelta(days=1)
    assert (page.content.version.author, page.content.version.message) == ("Ann", "more days")
    assert page.labels == ("policy", "hr")
    assert (page.space, page.scope) == ("HR", "wiki/HR")
    assert page.breadcrumbs == ("人事 People", "Home")
    assert [link.target for link in page.links] == ["wiki:1"]
    assert "2" in page.url
    assert [old.version.number for old in page.history] == [1]
    assert page.history[0].parts[0].markdown == "## Days\n\n25 days"
    assert page.history[0].version.author == "Bo"


async def test_rules_are_space_and_every_ancestor_and_page(bench: Bench) -> None:
    run = await bench.sync(bench.open())
    assert run.documents["2"].access == AccessRule.of([STAFF])
    restricted = AccessRule.of([STAFF], ["user:ann", FINANCE])
    assert run.documents["3"].access == run.documents["4"].access == restricted
    assert run.documents["5"].access == AccessRule.of([FINANCE, "user:dan"])


async def test_second_run_lists_and_reads_nothing_again(bench: Bench) -> None:
    await bench.sync(bench.open())
    run = await bench.sync(bench.open(), afresh=True)
    assert (run.ids(Upserted), len(run.ids(Unchanged))) == ([], 5)
    assert [one.scope for one in run.changes if isinstance(one, ScopeListed)] == [
        "wiki/FIN",
        "wiki/HR",
    ]


async def test_drafts_and_trash_are_never_read_and_archived_pages_are_marked(bench: Bench) -> None:
    bench.edit.add_page("HR", "Draft", "<p>x</p>", page_id="10", status="draft", by="ann")
    bench.edit.set_status("4", "archived")
    bench.edit.set_status("2", "trashed")
    run = await bench.sync(bench.open())
    assert sorted(run.documents) == ["1", "3", "4", "5"]
    assert run.documents["4"].status is Status.ARCHIVED
    assert run.documents["4"].access == run.documents["3"].access


async def test_missing_pages_are_missing_from_the_listing(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.set_status("2", "trashed")
    await bench.sync(source, afresh=True)
    assert "wiki:2" not in bench.known
    bench.edit.set_status("2", "current")
    run = await bench.sync(source, afresh=True)
    assert run.ids(Upserted) == ["2"]


async def test_trashed_page_is_gone_at_the_next_incremental_run(bench: Bench) -> None:
    source = bench.open()
    bench.edit.attach("2", "days.csv", b"a,b\n1,2")
    await bench.sync(source)
    bench.clock.forward(minutes=5)
    bench.edit.set_status("2", "trashed")
    run = await bench.sync(source)
    assert sorted(run.ids(Gone)) == sorted(
        one.removeprefix("wiki:") for one in ["wiki:2", *attachment_ids(bench)]
    )


def attachment_ids(bench: Bench) -> list[str]:
    return [f"wiki:{one}" for one in bench.wiki.files]


async def test_renames_moves_and_labels_are_seen_by_the_next_listing(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.move("2", "3")
    bench.edit.set_labels("4", ["money"])
    bench.edit.rename("1", "Start")
    run = await bench.sync(source, afresh=True)
    assert sorted(run.ids(Upserted)) == ["1", "2", "4"]
    assert run.documents["2"].access == bench.documents["3"].access
    assert run.documents["2"].breadcrumbs == ("人事 People", "Start", "Pay")
    assert run.documents["4"].labels == ("money",)
    assert run.documents["1"].content.title == "Start"


async def test_page_moved_to_another_space_keeps_its_document(bench: Bench) -> None:
    source = bench.open()
    await bench.sync(source)
    bench.edit.move("2", "5")
    run = await bench.sync(source, afresh=True)
    assert run.ids(Upserted) == ["2"]
    assert run.documents["2"].scope == "wiki/FIN"
    assert run.documents["2"].access == bench.documents["5"].access
    assert "wiki:2" in bench.known


async def test_blog_posts_are_read_unless_left_out(bench: Bench) -> None:
    bench.edit.add_page("HR", "News", "<p>Party</p>", page_id="20", kind="blogpost")
    run = await bench.sync(bench.open())
    assert run.documents["20"].content.parts[0].markdown == "Party"
    bench.known.clear()
    run = await bench.sync(bench.open(blog_posts=False), afresh=True)
    assert "20" not in run.documents


async def test_comments_are_read_when_asked_for(bench: Bench) -> None:
    source = bench.open(comments=True)
    bench.edit.comment("2", "<p>Is that <strong>new</strong>?</p>", by="bo")
    run = await bench.sync(source)
    assert "**Bo, 2026-11-30:**\n\nIs that **new**?" in bench.text("2")
    run = await bench.sync(source, afresh=True)
    assert run.ids(Upserted) == []
    bench.clock.forward(minutes=1)
    bench.edit.comment("2", "<p>Since May</p>", by="ann")
    run = await bench.sync(source)
    assert run.ids(Upserted) == ["2"]
    assert "Since May" in bench.text("2")
    assert (await bench.sync(source)).ids(Upserted) == []


async def test_replies_and_comments_on_words_are_read_in_the_order_of_time(bench: Bench) -> None:
    source = bench.open(comments=True)
    question = bench.edit.comment("2", "<p>Is that new?</p>", by="bo")
    bench.clock.forward(minutes=1)
    bench.edit.comment("2", "<p>A typo here</p>", by="cy", is_inline=True)
    bench.clock.forward(minutes=1)
    reply = bench.edit.reply(question.comment_id, "<p>Since May</p>", by="ann")
    run = await bench.sync(source)
    bench.clock.forward(minutes=1)
    bench.edit.reply(reply.comment_id, "<p>Thank you</p>", by="bo")
    run = await bench.sync(source)
    assert run.ids(Upserted) == ["2"]
    text = bench.text("2")
    said = [text.index(one) for one in ("that new?", "A typo", "Since May", "Thank you")]
    assert said == sorted(said)
    assert text.count("Since May") == 1
    assert (await bench.sync(source, afresh=True)).ids(Upserted) == []


async def test_only_named_spaces_are_read(bench: Bench) -> None:
    run = await bench.sync(bench.open(spaces=["FIN"]))
    assert sorted(run.documents) == ["5"]


async def test_wrong_space_is_an_error_that_says_what_to_mend(bench: Bench) -> None:
    with pytest.raises(SettingsError, match=r"space 'NOPE' is not there.*sources\.wiki\.spaces"):
        await bench.sync(bench.open(spaces=["HR", "NOPE"]))


async def test_wrong_token_and_login_page_are_errors_that_say_what_to_mend(bench: Bench) -> None:
    with pytest.raises(SettingsError, match=r"401.*check sources\.wiki\.url"):
        await bench.sync(bench.open(token="wrong"))
    bench.server.faults.login_page = True
    with pytest.raises(SettingsError, match="login form"):
        await bench.sync(bench.open())


async def test_wrong_flavour_is_an_error_that_says_what_to_mend(bench: Bench) -> None:
    other = "data_center" if bench.server.flavour == "cloud" else "cloud"
    with pytest.raises(SettingsError):
        await bench.sync(bench.open(flavour=other))


async def test_a_space_without_pages_is_not_taken_for_an_empty_one(bench: Bench) -> None:
    bench.wiki.hidden |= {"5"}
    run = await bench.sync(bench.open())
    assert "shows no page" in run.errors()[0]


async def test_a_space_that_vanished_is_an_alarm_and_not_a_deletion(bench: Bench) -> None:
    source = bench.open(spaces=["HR", "FIN"])
    await bench.sync(source)
    del bench.wiki.spaces["FIN"]
    for page_id in ("5",):
        bench.edit.purge(page_id)
    run = await bench.sync(source, afresh=True)
    assert "can't be seen any more" in run.errors()[0]
    assert "wiki:5" in bench.known


async def test_one_broken_page_is_recorded_and_the_rest_comes_in(bench: Bench) -> None:
    bench.edit.edit("2", "<ul><li>" * 3000 + "deep")
    run = await bench.sync(bench.open())
    assert "nested too deeply" in run.failures["2"]
    assert sorted(run.documents) == ["1", "3", "4", "5"]


async def test_checkpoints_let_finished_spaces_rest(bench: Bench) -> None:
    source = bench.open()
    async for change in source.discover(bench.cursor, {}):
        if isinstance(change, Checkpoint):
            bench.cursor = change.cursor
        if isinstance(change, ScopeListed) and change.scope == "wiki/HR":
            break
    run = await bench.sync(source)
    assert [one.scope for one in run.changes if isinstance(one, ScopeListed)] == ["wiki/HR"]


async def test_nobody_reads_a_space_whose_readers_are_not_known(bench: Bench) -> None:
    bench.server.faults.refuse = {"permissions", "getSpacePermissionSets"}
    run = await bench.sync(bench.open())
    assert {one.access for one in run.documents.values()} == {NOBODY}
    assert "space_readers" in run.failures["space/HR"]
    bench.known.clear()
    run = await bench.sync(bench.open(space_readers={"HR": ["members"]}), afresh=True)
    assert run.documents["2"].access == AccessRule.of(["members"])
    assert run.documents["5"].access == NOBODY


async def test_earlier_versions_are_read_back_as_far_as_wanted(bench: Bench) -> None:
    for number in range(2, 15):
        bench.clock.forward(hours=1)
        bench.edit.edit("2", f"<p>state {number}</p>")
    bench.edit.purge_version("2", 9, leaves_gap=True)
    run = await bench.sync(bench.open())
    history = run.documents["2"].history
    assert [one.version.number for one in history] == [5, 6, 7, 8, 10, 11, 12, 13]
    bench.known.clear()
    run = await bench.sync(bench.open(versions=1), afresh=True)
    assert run.documents["2"].history == ()
