"""What the assistant says of its own in chats, in both languages, in one place."""

import math
from dataclasses import dataclass
from datetime import datetime

from bot.rag.language import Language

SECONDS_A_MINUTE = 60
_DAYS_A_MONTH, _DAYS_A_YEAR = 30, 365
_ONE_MONTH_FROM, _ONE_YEAR_FROM = 45, 548


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTexts:
    """The assistant's own words in one language; `{...}` are filled in."""

    working: str
    first_question: str
    refreshed: str
    withdrawn: str
    is_searching: str
    is_reading: str
    is_writing: str
    sources: str
    page: str
    only_you: str
    only_you_more: str
    solved: str
    not_solved: str
    show_sources: str
    try_again: str
    refused_stranger: str
    restarted: str
    failed: str
    thanks_solved: str
    thanks_not_solved: str
    asker_only: str
    correction_title: str
    correction_label: str
    correction_hint: str
    send: str
    cancel: str
    trying_again: str
    still_working: str
    waiting: str
    too_many: str
    seconds: str
    minutes: str
    ask_human: str
    nobody_to_call: str
    called: str
    called_before: str
    help_needed: str
    mark_resolved: str
    resolved: str
    resolved_before: str
    helpers_only: str
    no_sources: str
    gone: str
    command_help: str
    search_help: str
    search_too_long: str
    search_heading: str
    search_nothing: str
    search_only_you: str
    earlier: str
    later: str
    share: str
    answer_this: str
    shared_by: str
    share_refused: str
    share_absent: str
    shared: str
    share_not_member: str
    not_taken: str
    ask_title: str
    ask_question: str
    ask_hint: str
    ask_where: str
    ask_alone: str
    ask_in_thread: str
    ask_send: str
    outdated: str
    today: str
    yesterday: str
    days_ago: str
    months_ago: str
    years_ago: str


_ZH = ChatTexts(
    working="正在查找…",
    first_question="你能帮我做什么？",
    refreshed="问题已修改，以下是更新后的回答。",
    withdrawn="提问已被删除，回答也已撤回。",
    is_searching="正在检索知识库…",
    is_reading="正在阅读找到的页面…",
    is_writing="正在撰写回答…",
    sources="来源",
    page="第 {page} 页",
    only_you="仅您可见",
    only_you_more="*仅您可见*（频道里不是每个人都能查看这些内容）：",
    solved="已解决",
    not_solved="没解决",
    show_sources="查看原文",
    try_again="再试一次",
    refused_stranger="抱歉，我还不认识这个 Slack 账号，无法回答。请联系管理员把它加入通讯录。",
    restarted="服务曾中断，正在继续处理…",
    failed="这次没能回答成功，请稍后再试。编号：{reference}",
    thanks_solved="谢谢反馈，很高兴帮上忙。",
    thanks_not_solved="谢谢，已记录您的反馈。",
    asker_only="只有提问的人可以这样做。",
    correction_title="哪里不对？",
    correction_label="正确的答案，或缺少了什么",
    correction_hint="选填。会交给管理员。",
    send="提交",
    cancel="取消",
    trying_again="正在重新查找…",
    still_working="这个问题还在处理中。",
    waiting="您问得有点快，这个问题大约 {wait}后开始处理。",
    too_many="排队的问题已经太多，这一个没有接收。请等前面的问题回答完再问。",
    seconds="{count} 秒",
    minutes="{count} 分钟",
    ask_human="找人帮忙",
    nobody_to_call="没有可以求助的人。",
    called="已请 {people} 帮忙。",
    called_before="已经有人被请来帮忙了。",
    help_needed="{people}：{asker} 需要帮助。\n> {question}",
    mark_resolved="标记为已解决",
    resolved="✓ 已由 {person} 标记为已解决。",
    resolved_before="已有人标记为已解决。",
    helpers_only="只有被请来帮忙的人和提问的人可以这样做。",
    no_sources="这个回答没有您现在可以查看的原文。",
    gone="这个回答的记录已经不在了。",
    command_help=(
        "*我能做什么*\n"
        "• 在频道里 @我 提问，或直接给我发消息；同一话题里接着问不用再 @。\n"
        "• `{command} 关键词`：搜索知识库，结果仅您可见。"
        "可加条件：`in:空间 by:作者 after:2026-01-01 label:标签 @知识库`。\n"
        "• `{command} email 收件人 主题`：起草邮件，您确认之后才会发出。\n"
        "• `{command} memory`：看我记着您的哪些话；`{command} forget`：全部忘掉。\n"
        "• `{command} status`：知识库同步情况（管理员）。\n"
        "• `{command} search 词`：搜索与上面命令同名的词，例如 `{command} search email`。\n"
        "• `{command} help`：this help in English."
    ),
    search_help=(
        "用法：`{command} 关键词`，例如 `{command} 差旅 住宿`。"
        "可加条件：`in:空间 by:作者 after:2026-01-01 label:标签 @知识库`。"
    ),
    search_too_long="搜索词太长了，请只留几个关键词；整段的问题可以直接向我提问。",
    search_heading="“{words}”的搜索结果",
    search_nothing="没有找到与“{words}”相关的内容。",
    search_only_you="只有您能看到这些结果。",
    earlier="上一页",
    later="下一页",
    share="分享到频道",
    answer_this="直接回答",
    shared_by="<@{user}> 分享：",
    share_refused="没有分享：这个频道里不是每个人都能查看这一页。",
    share_absent="没有分享：我不在这个频道里。请先邀请我加入。",
    shared="已分享到频道。",
    share_not_member="没有分享：您不在这个频道里。",
    not_taken="没能提交，请稍后再试。",
    ask_title="询问知行",
    ask_question="问题",
    ask_hint="可以修改后再提交。",
    ask_where="回答发到哪里",
    ask_alone="只发给我",
    ask_in_thread="发到该消息的回复里，频道成员可见",
    ask_send="提问",
    outdated="这些结果已过期，请重新搜索。",
    today="今天",
    yesterday="昨天",
    days_ago="{count} 天前",
    months_ago="{count} 个月前",
    years_ago="{count} 年前",
)

_EN = ChatTexts(
    working="Looking that up…",
    first_question="What can you do?",
    refreshed="Answered anew, because the question was edited.",
    withdrawn="The question was deleted, and its answer with it.",
    is_searching="is searching the knowledge base…",
    is_reading="is reading the pages found…",
    is_writing="is writing the answer…",
    sources="Sources",
    page="p. {page}",
    only_you="Only you can see this",
    only_you_more="*Only you can see this* (not everybody in this channel may read it):",
    solved="Solved",
    not_solved="Not solved",
    show_sources="Show sources",
    try_again="Try again",
    refused_stranger=(
        "Sorry, I don't know this Slack account yet, so I can't answer. "
        "Please ask an administrator to add it to the directory."
    ),
    restarted="I was interrupted and am going on…",
    failed="This question could not be answered just now; please try again. Reference: {reference}",
    thanks_solved="Thank you. Glad it helped.",
    thanks_not_solved="Thank you, that is noted.",
    asker_only="Only the person who asked can do this.",
    correction_title="What is wrong?",
    correction_label="The right answer, or what is missing",
    correction_hint="Optional. It goes to the administrators.",
    send="Send",
    cancel="Cancel",
    trying_again="Looking again…",
    still_working="This question is still being worked on.",
    waiting="That is a lot of questions at once; this one will start in about {wait}.",
    too_many=(
        "Too many questions are waiting already, so this one was not taken. "
        "Please ask again once the others are answered."
    ),
    seconds="{count} s",
    minutes="{count} min",
    ask_human="Ask a human",
    nobody_to_call="There is nobody to call.",
    called="{people} were asked to help.",
    called_before="People were called to this question before.",
    help_needed="{people}: {asker} needs help.\n> {question}",
    mark_resolved="Mark as resolved",
    resolved="✓ Marked as resolved by {person}.",
    resolved_before="It was marked as resolved before.",
    helpers_only="Only those who were called and the person who asked can do this.",
    no_sources="There is no source of this answer that you may read now.",
    gone="The record of this answer is no longer there.",
    command_help=(
        "*What I can do*\n"
        "• Mention me in a channel, or write to me directly; go on in the thread without a "
        "mention.\n"
        "• `{command} words` searches the knowledge base, for you alone. "
        "Filters: `in:SPACE by:NAME after:2026-01-01 label:x @base`.\n"
        "• `{command} email TO SUBJECT` drafts an e-mail, which goes out once you confirm it.\n"
        "• `{command} memory` shows what I remember of what you said; `{command} forget` ends it.\n"
        "• `{command} status` shows how the sources are kept in step (administrators).\n"
        "• `{command} search words` finds words that are commands, such as "
        "`{command} search email`.\n"
        "• `{command} 帮助`：中文说明。"
    ),
    search_help=(
        "Usage: `{command} words`, for example `{command} travel hotel`. "
        "Filters: `in:SPACE by:NAME after:2026-01-01 label:x @base`."
    ),
    search_too_long=(
        "That is too long to search for. Keep a few key words, or ask me the whole question."
    ),
    search_heading="Results for “{words}”",
    search_nothing="Nothing was found for “{words}”.",
    search_only_you="Only you can see these results.",
    earlier="Previous",
    later="Next",
    share="Share to channel",
    answer_this="Answer this",
    shared_by="Shared by <@{user}>:",
    share_refused="Not shared: not everybody in this channel may read that page.",
    share_absent="Not shared: I am not in this channel. Please invite me first.",
    shared="Shared to the channel.",
    share_not_member="Not shared: you are not in this channel.",
    not_taken="That could not be sent just now; please try again.",
    ask_title="Ask Zhixing",
    ask_question="Question",
    ask_hint="Edit it as you like.",
    ask_where="Where to answer",
    ask_alone="To me alone",
    ask_in_thread="In the thread, for everybody to see",
    ask_send="Ask",
    outdated="These results are out of date; please search again.",
    today="today",
    yesterday="yesterday",
    days_ago="{count} days ago",
    months_ago="{count} months ago",
    years_ago="{count} years ago",
)


def get_chat_texts(language: Language) -> ChatTexts:
    """Return the assistant's words for chats in a language."""
    return _ZH if language == "zh" else _EN


def describe_age(at: datetime, now: datetime, texts: ChatTexts) -> str:
    """Say how long ago something was; what lies ahead counts as today."""
    days = (now - at).days
    if days <= 0:
        return texts.today
    if days == 1:
        return texts.yesterday
    if days < _ONE_MONTH_FROM:
        return texts.days_ago.format(count=days)
    if days < _ONE_YEAR_FROM:
        return texts.months_ago.format(count=max(2, round(days / _DAYS_A_MONTH)))
    return texts.years_ago.format(count=max(2, round(days / _DAYS_A_YEAR)))


def describe_wait(seconds: float, texts: ChatTexts) -> str:
    """Say how long something takes, never too short."""
    if seconds < SECONDS_A_MINUTE:
        return texts.seconds.format(count=math.ceil(seconds))
    return texts.minutes.format(count=math.ceil(seconds / SECONDS_A_MINUTE))
