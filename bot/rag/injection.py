"""Recognise text in pages that talks to the assistant instead of the reader.

Such text is never quoted as an answer. Nothing depends on it being recognised: no page can make
the product act. What is missed is quoted like any other sentence.
"""

import re
from collections.abc import Sequence

_OVERRIDE = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|earlier|your)\b"
    r".{0,30}\b(?:instruction|prompt|rule|guideline|message|direction|restriction|polic)\w*"
    r"|(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:all|any|other)\b.{0,20}"
    r"\b(?:instruction|prompt|guideline)s?\b"
    r"|\b(?:reveal|print|repeat|show|output)\b.{0,20}\b(?:your|the)\s+(?:system\s+)?prompt\b"
    r"|(?:new|updated|real)\s+system\s+(?:instructions?|prompt)\s*[:：]"
    r"|<\|(?:im_start|system|assistant|endoftext)\b|\[/?INST\]|\bjailbreak\b|越狱模式"
    r"|(?:忽略|无视|忘记|忘掉|抛开|绕过|覆盖).{0,12}(?:之前|以上|上面|上述|此前|先前|前面|你|原有)"
    r".{0,20}(?:指令|指示|规则|要求|提示|设定|限制|约束|内容)"
    r"|(?:忽略|无视|忘记|忘掉|抛开|绕过|覆盖).{0,6}(?:所有|全部|一切|任何).{0,10}(?:指令|指示|提示词|设定)"
    r"|(?:系统|开发者)提示词?\s*[:：]",
    re.IGNORECASE,
)
_ADDRESSEE = re.compile(
    r"\b(?:ai|llm|language)[ -]?(?:assistants?|models?|agents?|bots?)\b|\bassistants?\b"
    r"|\bchat ?bots?\b|\b(?:chat)?gpt\b|\bautomated (?:agents?|assistants?)\b|\bcopilot\b"
    r"|(?:智能|自动|ai|人工智能)\s*(?:助手|助理|机器人|客服|代理|模型|体)|大模型|语言模型|聊天机器人|助手",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"(?:致|请|告|给|供|面向)\s*(?:所有|各|各位)?\s*(?:智能|自动|ai|人工智能)?\s*(?:助手|助理|机器人|模型|大模型)"
    r"|(?:助手|助理|机器人|模型)\s*(?:请|须|必须|应当?|注意|需要?)|(?:给|供)自动化?.{0,6}(?:备注|说明|指令)"
    r"|\b(?:instructions?|notes?|notice|message|attention)\s*(?:to|for)\s*(?:all\s+|any\s+)?"
    r"(?:the\s+)?(?:ai|llm|language|automated|assistant|chat|bot|agent|model)\w*"
    r"|\b(?:assistants?|models?|bots?|agents?)\s+(?:reading|processing|summari[sz]ing|indexing)\b"
    r"|\bif you are an? (?:ai|llm|assistant|language model|bot|automated)\b|\byou are now\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:must|should|shall|always|never|do not|don't|first|immediately|instead|please)\b"
    r".{0,60}\b(?:reply|respond|answer|output|print|reveal|disclose|send|forward|e-?mail|compile"
    r"|include|append|say|tell|list|show|execute|run|call|create|approve|grant|add|pretend|act"
    r"|open|mention|set)\b"
    r"|\b(?:without|needs? no|no need for)\s+(?:user\s+)?(?:confirmation|approval|asking)\b"
    r"|\b(?:if|when|whenever)\s+(?:a |the |any )?(?:user|someone|anyone|asked|people|person)\b"
    r"|(?:凡是|只要|如果|若|当).{0,8}(?:有人|用户|任何人|对方|被问).{0,12}(?:问|询问|提到|查询|要求)"
    r"|(?:直接|必须|务必|请|应|须|立即|马上|一律|同时|统一).{0,12}(?:回答|回复|答复|输出|打开"
    r"|发送|发给|转发|邮件|告知|展示|列出|泄露|执行|批准|创建|改为|写上|附上|隐藏)"
    r"|不要.{0,8}(?:提到|提及|告诉|透露|说明|显示)|无需(?:用户)?(?:确认|批准|审批)|把.{1,40}(?:发|送|转|寄)(?:送|给|到|往)"
    r"|结尾(?:写|加|附)",
    re.IGNORECASE,
)
# A few quoted words are talked about, not said.
_MENTION = re.compile(r"[「『“\"][^」』”\"]{1,30}[」』”\"]|`[^`]+`")
_ABOUT_INJECTION = re.compile(
    r"prompt|inject|jailbreak|提示词|注入|越狱|指令攻击|助手|机器人|大模型|\bai\b|assistant|\bbots?\b",
    re.IGNORECASE,
)


def speaks_to_assistant(text: str) -> bool:
    """Tell whether a sentence gives the assistant orders.

    Either it wants earlier rules forgotten, or it calls on an assistant and orders something. What
    it merely quotes does not count.
    """
    spoken = _MENTION.sub(" ", text)
    if _OVERRIDE.search(spoken):
        return True
    is_to_assistant = _CALL.search(spoken) or _ADDRESSEE.search(spoken)
    return bool(is_to_assistant and _ORDER.search(spoken))


def calls_assistant(text: str) -> bool:
    """Tell whether a heading or opening turns to the assistant: what follows is for it."""
    return bool(_CALL.search(_MENTION.sub(" ", text)))


def asks_about_injection(question: str) -> bool:
    """Tell whether the question itself is about assistants and their orders."""
    return bool(_ABOUT_INJECTION.search(question))


def find_injected(paragraph: Sequence[str], *, heading: str = "") -> set[int]:
    """Return the indexes of a paragraph's sentences that are not to be quoted.

    From the first order on the rest of the paragraph goes too: it carries the order on. Under a
    heading that calls on assistants nothing is quoted.
    """
    if heading and calls_assistant(heading):
        return set(range(len(paragraph)))
    for index, sentence in enumerate(paragraph):
        is_call = calls_assistant(sentence) and any(
            _ORDER.search(later) for later in paragraph[index:]
        )
        if is_call or speaks_to_assistant(sentence):
            return set(range(index, len(paragraph)))
    return set()
