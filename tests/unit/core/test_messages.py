from datetime import UTC, datetime

from core.messages import Answer, Citation, Outcome, ProposedAction

CITATION = Citation(
    n=1,
    document_id="wiki:1",
    passage_id="p1",
    title="Leave",
    heading_path=("Carry over",),
    url="https://wiki.example/1",
    page=2,
    version=7,
    version_label="2026-08",
    updated_at=datetime(2026, 8, 1, tzinfo=UTC),
)


def test_an_answer_prints_the_keys_of_the_interface() -> None:
    answer = Answer(
        outcome=Outcome.ANSWERED,
        text="5 days [1]",
        citations=(CITATION,),
        route="faq",
        trace_id="t1",
        took_ms=12.34,
    )
    assert answer.to_json() == {
        "outcome": "answered",
        "answer": "5 days [1]",
        "citations": [
            {
                "n": 1,
                "document_id": "wiki:1",
                "passage_id": "p1",
                "title": "Leave",
                "heading_path": ["Carry over"],
                "url": "https://wiki.example/1",
                "version": 7,
                "updated_at": "2026-08-01T00:00:00+00:00",
            }
        ],
        "private_answer": None,
        "proposed_action": None,
        "route": "faq",
        "tools": [],
        "trace_id": "t1",
        "took_ms": 12.3,
    }


def test_a_proposed_action_prints_skill_and_parameters() -> None:
    action = ProposedAction(skill="create_ticket", params={"queue": "IT"})
    answer = Answer(outcome=Outcome.PROPOSED, text="Shall I?", proposed_action=action)
    assert answer.to_json()["proposed_action"] == {
        "skill": "create_ticket",
        "params": {"queue": "IT"},
    }
