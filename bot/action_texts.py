"""What the assistant says about things to be done, in both languages."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.agent.actions import ActionState
from bot.agent.email_check import Flaw
from bot.rag.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeTexts:
    """What is said, and can be pressed, when something failed or nobody knows."""

    failed: str
    unknown: str
    arrived: str
    not_arrived: str
    send_again: str
    send_again_title: str
    send_again_warning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTexts:
    """The assistant's own words in one language; `{...}` are filled in.

    Attributes:
        titles: By skill; others go by their own name.
        labels: By parameter; others go by their own name.
        consequences: By skill.
        consequence: Of skills that have none of their own.
        of_mail: What is said of e-mails in another way than of all else.
    """

    titles: Mapping[str, str]
    labels: Mapping[str, str]
    consequences: Mapping[str, str]
    consequence: str
    states: Mapping[ActionState, str]
    explained: Mapping[ActionState, str]
    status: str
    asked_by: str
    second_person: str
    decided_by: Mapping[ActionState, str]
    said: str
    reason: str
    from_page: str
    outside: str
    nothing: str
    confirm_by: str
    confirm: str
    edit: str
    cancel: str
    of_mail: OutcomeTexts
    of_others: OutcomeTexts
    check_again: str
    not_known: str
    draft_again: str
    not_yours: str
    needs_second: str
    only_asker_edits: str
    already: str
    too_late: str
    skill_changed: str
    outdated: str
    form_title: str
    edit_title: str
    body_more: str
    addresses_hint: str
    body_hint: str
    preview: str
    close: str
    problems: Mapping[Flaw, str]
    not_kept: str
    mail_missing: str
    mail_not_for_you: str
    nobody_decides: str
    no_draft: str


_ZH = ActionTexts(
    titles={"send_email": "发送邮件"},
    labels={"to": "收件人", "cc": "抄送", "subject": "主题", "body": "正文"},
    consequences={"send_email": "确认后邮件立即发出，无法撤回。"},
    consequence="确认后立即执行，无法撤回。",
    states={
        ActionState.PENDING: "等待确认",
        ActionState.RUNNING: "正在执行…",
        ActionState.DONE: "已完成",
        ActionState.FAILED: "没有成功",
        ActionState.UNKNOWN: "结果不明",
        ActionState.REJECTED: "已取消",
        ActionState.EXPIRED: "已过期",
        ActionState.REPLACED: "已被修改后的新草稿取代",
        ActionState.VOID: "已作废",
    },
    explained={
        ActionState.EXPIRED: "没有人及时确认，什么都没有执行。",
        ActionState.VOID: "起草之后相关设置有变动，这份草稿不能再执行。请重新起草。",
    },
    status="状态",
    asked_by="由 {name} 发起",
    second_person="需要由另一人确认：{names}。发起人不能自己确认。",
    decided_by={
        ActionState.RUNNING: "由 {name} 确认",
        ActionState.DONE: "由 {name} 确认",
        ActionState.FAILED: "由 {name} 确认",
        ActionState.UNKNOWN: "由 {name} 确认",
        ActionState.REJECTED: "由 {name} 取消",
        ActionState.REPLACED: "由 {name} 修改",
    },
    said="对方的答复：",
    reason="原因：",
    from_page="⚠️ 这个值来自页面，不是发起人输入的，请核对。",
    outside="（公司外部）",
    nothing="（无）",
    confirm_by="请在 {moment} 前确认，过期作废。",
    confirm="确认",
    edit="修改",
    cancel="取消",
    of_mail=OutcomeTexts(
        failed="什么都没有发出。",
        unknown=(
            "对方没有答复，或者处理过程中断：可能已经发出，也可能没有。请先核实，再选择下面的操作。"
        ),
        arrived="已经送达",
        not_arrived="没有送达",
        send_again="再发一次（可能重复）",
        send_again_title="再发一次？",
        send_again_warning="如果上一次其实已经发出，对方会收到两封。",
    ),
    of_others=OutcomeTexts(
        failed="什么都没有执行。",
        unknown=(
            "对方没有答复，或者处理过程中断：可能已经办成，也可能没有。请先核实，再选择下面的操作。"
        ),
        arrived="已经办成",
        not_arrived="没有办成",
        send_again="再办一次（可能重复）",
        send_again_title="再办一次？",
        send_again_warning="如果上一次其实已经办成，就会重复一次。",
    ),
    check_again="再查一次",
    not_known="对方系统里还查不到，结果仍然不明。稍后可以再查，或者自行核实。",
    draft_again="重新起草",
    not_yours="这不由您决定，只有这些人可以：{names}。",
    needs_second="这项操作要由另一人确认，发起人不能自己确认。可以确认的人：{names}。",
    only_asker_edits="只有发起人可以修改草稿：{names}。",
    already="已经处理过了：{state}。",
    too_late="已经过期，没有执行。",
    skill_changed="起草之后相关设置有变动，没有执行。请重新起草。",
    outdated="这个按钮已经失效。",
    form_title="发送邮件",
    edit_title="修改草稿",
    body_more="正文（续 {number}）",
    addresses_hint="多个地址用逗号分开",
    body_hint="提交后先显示完整草稿，确认之后才会发出。",
    preview="预览",
    close="关闭",
    problems={
        Flaw.MISSING: "请填写。",
        Flaw.NO_TEXT: "这里要填文字。",
        Flaw.NO_ADDRESS: "“{value}”不是邮箱地址，请写成 name@company.example。",
        Flaw.DOMAIN: "管理员没有允许发往“{value}”。",
        Flaw.TOO_MANY: "收件人和抄送合计最多 {limit} 个。",
        Flaw.TOO_LONG: "太长：{value} 个字符，最多 {limit} 个。",
    },
    not_kept="没有保存成功，请再提交一次。",
    mail_missing=(
        "还不能发邮件：没有配置邮件服务器。"
        "请管理员在 zhixing.toml 的 [mail] 里填写 host 和 sender。"
    ),
    mail_not_for_you="抱歉，只有公司通讯录里的在职人员可以通过我发邮件。",
    no_draft="这一步还不能由我来做：缺少相应的设置，或内容不符合要求。",
    nobody_decides="没有保存：按设置需要由另一人确认，但现在没有人可以确认。请联系管理员。",
)

_EN = ActionTexts(
    titles={"send_email": "Send an e-mail"},
    labels={"to": "To", "cc": "Cc", "subject": "Subject", "body": "Text"},
    consequences={
        "send_email": "Once confirmed, the e-mail goes out at once and cannot be taken back."
    },
    consequence="Once confirmed, it is done at once and cannot be undone.",
    states={
        ActionState.PENDING: "waiting for confirmation",
        ActionState.RUNNING: "being done…",
        ActionState.DONE: "done",
        ActionState.FAILED: "failed",
        ActionState.UNKNOWN: "outcome not known",
        ActionState.REJECTED: "cancelled",
        ActionState.EXPIRED: "expired",
        ActionState.REPLACED: "replaced by an edited draft",
        ActionState.VOID: "void",
    },
    explained={
        ActionState.EXPIRED: "Nobody confirmed it in time; nothing was done.",
        ActionState.VOID: (
            "Its settings have changed since it was drafted, so it can't be done any more. "
            "Please draft it again."
        ),
    },
    status="Status",
    asked_by="Asked for by {name}",
    second_person="A second person has to confirm: {names}. Whoever asked can't do so alone.",
    decided_by={
        ActionState.RUNNING: "confirmed by {name}",
        ActionState.DONE: "confirmed by {name}",
        ActionState.FAILED: "confirmed by {name}",
        ActionState.UNKNOWN: "confirmed by {name}",
        ActionState.REJECTED: "cancelled by {name}",
        ActionState.REPLACED: "edited by {name}",
    },
    said="The other side said:",
    reason="Reason:",
    from_page="⚠️ This value comes from a page, not from the person who asked. Please check it.",
    outside=" (outside of the company)",
    nothing="(none)",
    confirm_by="Please confirm before {moment}; then it expires.",
    confirm="Confirm",
    edit="Edit",
    cancel="Cancel",
    of_mail=OutcomeTexts(
        failed="Nothing was sent.",
        unknown=(
            "The other side did not answer, or I was interrupted: it may or may not have gone "
            "out. Please check first, then choose below."
        ),
        arrived="It arrived",
        not_arrived="It did not arrive",
        send_again="Send again (may double)",
        send_again_title="Send it again?",
        send_again_warning="If the first one did go out after all, people get it twice.",
    ),
    of_others=OutcomeTexts(
        failed="Nothing was done.",
        unknown=(
            "The other side did not answer, or I was interrupted: it may or may not have been "
            "done. Please check first, then choose below."
        ),
        arrived="It was done",
        not_arrived="It was not done",
        send_again="Do it again (may double)",
        send_again_title="Do it again?",
        send_again_warning="If the first try was done after all, it is done twice.",
    ),
    check_again="Check again",
    not_known=(
        "The other system does not know of it yet, so it still is not known. Check again in a "
        "while, or look there yourself."
    ),
    draft_again="Draft again",
    not_yours="This is not yours to decide; these people may: {names}.",
    needs_second=(
        "A second person has to confirm this; whoever asked can't do so alone. "
        "These people may: {names}."
    ),
    only_asker_edits="Only the person who asked may edit the draft: {names}.",
    already="This has been dealt with: {state}.",
    too_late="It has expired; nothing was done.",
    skill_changed=(
        "Its settings have changed since it was drafted; nothing was done. Please draft it again."
    ),
    outdated="This button no longer works.",
    form_title="Send an e-mail",
    edit_title="Edit the draft",
    body_more="Text (continued, {number})",
    addresses_hint="Separate several addresses with commas",
    body_hint="You see the whole draft first; it goes out only once confirmed.",
    preview="Preview",
    close="Close",
    problems={
        Flaw.MISSING: "Please fill this in.",
        Flaw.NO_TEXT: "This has to be text.",
        Flaw.NO_ADDRESS: "“{value}” is no e-mail address; write it as name@company.example.",
        Flaw.DOMAIN: "Administrators don't allow e-mails to “{value}”.",
        Flaw.TOO_MANY: "To and Cc together take {limit} addresses at most.",
        Flaw.TOO_LONG: "Too long: {value} characters, {limit} are allowed.",
    },
    not_kept="This could not be saved; please submit it again.",
    mail_missing=(
        "I can't send e-mails yet: no mail server is configured. An administrator has to set "
        "host and sender under [mail] in zhixing.toml."
    ),
    mail_not_for_you="Sorry, only active people of the company's directory can send e-mails by me.",
    no_draft="I can't do this yet: its settings are missing, or something in it can't be used.",
    nobody_decides=(
        "Not saved: a second person has to confirm this, and nobody who may is there now. "
        "Please tell an administrator."
    ),
)


def get_action_texts(language: Language) -> ActionTexts:
    """Return the assistant's words about actions in a language."""
    return _ZH if language == "zh" else _EN
