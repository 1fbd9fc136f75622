"""What rules alone decide: greetings, thanks, what needs no search, and plain requests."""

import re

from bot.agent.planning.requests import asks_for_action
from bot.routing import Route, Routing

_END = r"[\s!！。.,，~～?？^_)(:：;；…]*$"
_GREETING = re.compile(
    r"^\W*(?:hi+|hello+|hey+|yo|howdy|good (?:morning|afternoon|evening|day)"
    r"|你好[呀啊哇]?|您好|嗨|哈喽"
    r"|早(?:上好|安)?|下午好|晚上好|在吗|在不在|大家好)(?:\s*(?:there|all|everyone|team|bot|知行|zhixing"
    r"|机器人|小助手))?"
    r"(?:[\s,，!！]*(?:how are (?:you|things)(?: doing)?(?: today)?|what'?s up"
    r"|how'?s it going|最近(?:好吗|怎么样|如何)|吃了[吗没]))?"
    + _END
    + r"|^\W*(?:how are you(?: doing)?(?: today)?|what'?s up|how'?s it going"
    r"|你?最近(?:好吗|怎么样|如何)|吃了[吗没])" + _END,
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|好的?|great|cool|perfect|明白了?|知道了|收到)[\s,，。!！]*)?"
    r"(?:many )?(?:thanks?(?: you)?(?: (?:a lot|so much|very much))?|thx|ty|cheers"
    r"|谢谢?(?:你|您|啦|了)?|多谢|感谢|辛苦了?)"
    r"(?:[\s,，!！。]*(?:that (?:really )?help(?:ed|s)(?: a lot)?|very helpful|got it"
    r"|解决了|有用|帮大忙了))?" + _END,
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"^\W*(?:bye(?: bye)?|good ?bye|see you(?: later)?|good night|再见|拜拜|晚安|回头见)" + _END,
    re.IGNORECASE,
)
_PRAISE = re.compile(
    r"^\W*(?:ok(?:ay)?|good|great|cool|nice|perfect|well done|awesome|好的?|很好|不错|真棒|厉害"
    r"|明白了?|知道了|收到|哈哈+|lol)" + _END,
    re.IGNORECASE,
)
_ABOUT_BOT = re.compile(
    r"^\W*(?:who (?:are|r) (?:you|u)|what (?:are you|is your name)|你是谁[啊呀]?|你是什么"
    r"|你叫什么(?:名字)?|are you (?:a )?(?:bot|robot|human|ai)|你是(?:机器人|人工智能|真人)吗?)\W*"
    r"(?:(?:and )?what can you do|你?(?:都?能|可以|会)[做干](?:什么|些什么|些?啥|嘛)[啊呀]?)?"
    + _END,
    re.IGNORECASE,
)
_HELP = re.compile(
    r"^\W*(?:help|/help|帮助|what can (?:you|i) (?:do|ask)(?: (?:for me|you|here))?"
    r"|how do i use (?:you|this|zhixing)|how does this work"
    r"|你?(?:都?能|可以|会)(?:帮我)?[做干](?:什么|些什么|些?啥|嘛)[啊呀]?|你有什么(?:用|功能)|怎么用(?:你|这个|知行)?|使用说明)"
    + _END,
    re.IGNORECASE,
)
_CHAT = re.compile(
    # How somebody feels, said and not asked; and what is asked of a companion.
    r"^[^?？]{0,12}?(?:好|太|真|很|快)(?:累|困|烦|忙|饿|开心|高兴|难过|无聊|郁闷|崩溃)"
    r"(?:死|坏|疯)?[了啊呀哦呢吧哎唉]*"
    + _END
    + r"|^\W*(?:i'?m|i am|im|feeling) (?:so |really |very |too |a bit |kind of )?"
    r"(?:tired|bored|sleepy|exhausted|hungry|happy|sad|stressed(?: out)?|fed up)"
    r"(?: (?:today|now|of this|again))?"
    + _END
    + r"|^\W*(?:please |can you |could you )*(?:tell|crack) (?:me |us )?(?:a|another|some) "
    r"(?:good |funny )?jokes?\b.{0,40}$"
    r"|^\W*(?:给我|跟我|再|能不能|可以)*[讲说](?:一个|个|一段|段)(?:\S{0,10}的)?(?:笑话|段子|故事).{0,6}$"
    r"|^\W*(?:sing (?:me )?a song|(?:给我)?唱(?:一?首)歌|陪我(?:聊|说)(?:聊天|说话|会儿天|天))"
    + _END,
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W_]", re.UNICODE)

_RULES = (
    (Route.CHITCHAT, "greeting", _GREETING),
    (Route.CHITCHAT, "thanks", _THANKS),
    (Route.CHITCHAT, "farewell", _FAREWELL),
    (Route.CHITCHAT, "praise", _PRAISE),
    (Route.CHITCHAT, "about the assistant", _ABOUT_BOT),
    (Route.CHITCHAT, "chat", _CHAT),
    (Route.HELP, "asks for help", _HELP),
)


def find_small_talk(text: str) -> Routing | None:
    """Return the way of a message that asks nothing of the pages; None = it may ask something."""
    if not _LETTERS.search(text):
        return Routing(route=Route.CLARIFY, reason="no words")
    for route, reason, pattern in _RULES:
        if pattern.match(text):
            return Routing(route=route, reason=reason)
    return None


def find_command(text: str) -> Routing | None:
    """Return the way of a message that plainly asks for something to be done."""
    if asks_for_action(text):
        return Routing(route=Route.ACTION, reason="asks for something to be done")
    return None
