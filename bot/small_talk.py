"""What is said to greetings, thanks and the like."""

from bot.routing import Route, Routing
from bot.texts import Texts
from core.messages import Answer, Outcome


def answer_small_talk(routing: Routing, texts: Texts) -> Answer:
    """Return the assistant's own words for a message that asks nothing of the pages."""
    if routing.route is Route.CLARIFY:
        asked = texts.no_words if routing.by == "rules" else texts.too_vague
        return Answer(outcome=Outcome.CLARIFY, text=asked, route=routing.route)
    said = {
        "greeting": texts.greeting,
        "thanks": texts.thanks,
        "farewell": texts.farewell,
        "praise": texts.praise,
        "about the assistant": texts.about,
    }.get(routing.reason, texts.help)
    return Answer(outcome=Outcome.CHITCHAT, text=said, route=routing.route)
