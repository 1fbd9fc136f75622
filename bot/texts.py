"""Everything the assistant says of its own, in both languages, in one place."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.rag.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """The assistant's own words in one language; `{...}` are filled in."""

    greeting: str
    thanks: str
    farewell: str
    praise: str
    about: str
    help: str
    no_words: str
    too_vague: str
    not_found: str
    near_pages: str
    failed: str
    model_failed: str
    stale_copy: str
    conflict: str
    conflict_item: str
    unconfirmed: str
    archived: str
    private_note: str
    hidden: str
    hidden_command: str
    ask_for_hidden: str
    ask_before_command: str
    page_owner: str
    clarify: str
    clarify_open: str
    quoted_abroad: str
    owner: str
    state_now: str
    state_former: str
    state_as_of: str
    no_past: str
    title_change: str
    agent_found: str
    agent_missing: str
    agent_stopped: Mapping[str, str]
    draft: str
    draft_item: str
    draft_from_pages: str
    draft_not_here: str
    draft_missing: Mapping[str, str]
    condition_unmet: str
    condition_unknown: str


_ZH = Texts(
    greeting="你好！想查公司里的什么内容，直接问我就行，例如“年假能结转几天”或者一个告警代码。",
    thanks="不客气，有问题随时问我。",
    farewell="再见，有需要随时找我。",
    praise="好的，还想了解什么就直接问。",
    about="我是知行，公司的知识助手：只根据您有权查看的页面回答，并注明出处。",
    help=(
        "直接用中文或英文提问，例如“差旅住宿标准是多少？”。可以追问，可以查代码（如 K8-023），"
        "也可以用 @名称 限定知识库。答案只来自您有权查看的页面，并附出处；没有把握时我会直说。"
    ),
    no_words="您想了解什么？请用一句话描述问题。",
    too_vague=(
        "还不清楚您说的是哪件事。请告诉我具体是哪个系统、流程、文件或单号，"
        "以及想知道什么（遇到报错的话，把提示文字也发来）。"
    ),
    not_found="知识库里没有找到可以回答这个问题的内容。",
    near_pages="最接近的页面：",
    failed="这次没能回答成功，请稍后再试。编号：{trace_id}",
    model_failed="（语言模型暂时不可用，以下为原文摘录。）",
    stale_copy="注意：《{title}》仍写着旧值 {value}。",
    conflict="不同页面的说法不一致，请向负责人确认：",
    conflict_item="- {value}：《{title}》，自 {date} 起{owner} [{n}]",
    unconfirmed="（来源自 {date} 起无法确认此页面。）",
    archived="（已归档页面，可能不再有效。）",
    private_note="另有内容仅您可见，已私下发给您。",
    hidden="（已隐藏）",
    hidden_command="（危险命令已隐藏）",
    ask_for_hidden="密码、密钥这类内容不在这里显示，需要时请联系{contact}。",
    ask_before_command="会删除数据或破坏系统的命令不在这里显示，执行之前请先与{contact}确认。",
    page_owner="页面负责人",
    clarify="您指的是哪一个？",
    clarify_open="请说得具体一些：您想了解的是什么？",
    quoted_abroad="（以下为英文页面原文）",
    owner="，负责人 {name}",
    state_now="现在（{version}，自 {since} 起）：",
    state_former="此前（{version}，{since} 至 {until}）：",
    state_as_of="（以上为 {version} 的内容，{since} 至 {until} 有效。）",
    no_past="（没有更早的版本与此不同：自 {since}（{version}）起就是这样写的。）",
    title_change="此页面原名《{before}》，自 {date}（{version}）起改为《{after}》。",
    agent_found="查到的内容如下：",
    agent_missing="还没有查清的：",
    agent_stopped={
        "steps": "（已达到查询步数上限，以上是目前查到的内容。）",
        "time": "（已达到时间上限，以上是目前查到的内容。）",
        "tokens": "（已达到用量上限，以上是目前查到的内容。）",
        "repeated": "（继续查也没有新的进展，以上是目前查到的内容。）",
        "nothing_found": (
            "（换了问法也没有查到更多内容；可以换个说法，或告诉我在哪个系统、哪个页面里。）"
        ),
        "tool_errors": "（有查询没能完成，以上是目前查到的内容。）",
        "model_failed": "（语言模型暂时不可用，以上是目前查到的内容。）",
    },
    draft="草稿如下，尚未执行，需要您确认：",
    draft_item="- {name}：{value}",
    draft_from_pages="（来自页面或其他系统，请核对）",
    condition_unmet="您说的条件不成立（目前在 {step}），所以没有起草提醒。",
    condition_unknown="我无法判断您说的条件是否成立（目前在 {step}），所以没有起草提醒。",
    draft_missing={
        "send_email.recipient": "邮件发给谁？请写出姓名或邮箱地址。",
        "send_email.content": "邮件里要写什么？请说一下内容。",
        "create_ticket.content": "工单是关于什么的？请说明出了什么问题或需要什么。",
    },
    draft_not_here="这份草稿用到了只有您能看的内容，不能在这里显示。请私聊我再说一次。",
)

_EN = Texts(
    greeting=(
        "Hello! Ask me anything that is written down in the company, such as “How many days of "
        "leave can I carry over?” or an alert code."
    ),
    thanks="You're welcome. Ask me any time.",
    farewell="Goodbye. I'm here when you need me.",
    praise="Good. Ask away if you need anything else.",
    about=(
        "I'm Zhixing, the company's knowledge assistant: I answer from the pages you may read, "
        "and say where it stands."
    ),
    help=(
        "Ask in English or Chinese, for example “What is the hotel limit in Lisbon?”. You can "
        "follow up, look up codes (such as K8-023), and restrict to a knowledge base with @name. "
        "Answers come only from pages you may read, with their source; I say so when I don't know."
    ),
    no_words="What would you like to know? Please put it into a sentence.",
    too_vague=(
        "I can't tell yet what this is about. Please name the system, process, file or number, "
        "and what you would like to know (with an error, its message too)."
    ),
    not_found="I found nothing in the knowledge base that answers this question.",
    near_pages="The nearest pages:",
    failed="This question could not be answered just now; please try again. Reference: {trace_id}",
    model_failed="(The language model is not available; these are quotes.)",
    stale_copy="Note: “{title}” still gives the former value {value}.",
    conflict="Pages disagree; please check with their owners:",
    conflict_item="- {value}: “{title}”, since {date}{owner} [{n}]",
    unconfirmed="(The source has not confirmed this page since {date}.)",
    archived="(An archived page; it may no longer hold.)",
    private_note="There is more that only you may see; it was sent to you privately.",
    hidden="(hidden)",
    hidden_command="(destructive command hidden)",
    ask_for_hidden="Passwords and keys are not shown here; ask {contact} for them.",
    ask_before_command=(
        "Commands that destroy data or systems are not shown here; check with {contact} before "
        "you run one."
    ),
    page_owner="the owner of the page",
    clarify="Which one do you mean?",
    clarify_open="Please say a little more: what is it about?",
    quoted_abroad="(Quoted from a Chinese page.)",
    owner=", owner {name}",
    state_now="Now ({version}, since {since}): ",
    state_former="Before ({version}, {since} to {until}): ",
    state_as_of="(As in {version}, in force from {since} to {until}.)",
    no_past="(No earlier version is kept that differs: it has read so since {since}, {version}.)",
    title_change=(
        "This page was called “{before}” and has been “{after}” since {date} ({version})."
    ),
    agent_found="This is what I found:",
    agent_missing="Still open:",
    agent_stopped={
        "steps": "(I reached the limit of look-ups; this is what I have so far.)",
        "time": "(I ran out of time; this is what I have so far.)",
        "tokens": "(I reached the limit for one question; this is what I have so far.)",
        "repeated": "(Looking further brought nothing new; this is what I have so far.)",
        "nothing_found": (
            "(Other wordings found no more. Try another one, or tell me which system or page to "
            "look in.)"
        ),
        "tool_errors": "(Some look-ups did not work; this is what I have so far.)",
        "model_failed": "(The language model is not available; this is what I have so far.)",
    },
    draft="Here is a draft. Nothing has been done; it needs your confirmation:",
    draft_item="- {name}: {value}",
    draft_from_pages=" (from a page or another system, please check)",
    condition_unmet="Your condition does not hold (it is at {step}), so no reminder was drafted.",
    condition_unknown=(
        "I can't tell whether your condition holds (it is at {step}), so no reminder was drafted."
    ),
    draft_missing={
        "send_email.recipient": "Whom should the e-mail go to? Please give a name or an address.",
        "send_email.content": "What should the e-mail say?",
        "create_ticket.content": "What is the ticket about? What is wrong, or what do you need?",
    },
    draft_not_here=(
        "This draft uses content that only you may see, so it can't be shown here. Please ask me "
        "again in a direct message."
    ),
)


def get_texts(language: Language) -> Texts:
    """Return the assistant's words in a language."""
    return _ZH if language == "zh" else _EN
