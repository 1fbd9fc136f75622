"""What the assistant says in its App Home and about the state of its sources."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.preferences.store import LanguageChoice, ReplyMode
from bot.rag.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeTexts:
    """The assistant's own words in one language; `{...}` are filled in."""

    title: str
    how_title: str
    how: str
    me_title: str
    unknown: str
    name: str
    department: str
    job: str
    email: str
    groups: str
    no_groups: str
    language: str
    languages: Mapping[LanguageChoice, str]
    questions_title: str
    no_questions: str
    questions_note: str
    actions_title: str
    no_actions: str
    open_card: str
    waits_for_you: str
    asked_by_you: str
    forget: str
    forget_warning: str
    forgotten: str
    cancel: str
    admin_title: str
    admin_note: str
    choose_channel: str
    channel_title: str
    channel_saved: str
    bases: str
    bases_hint: str
    reply_mode: str
    reply_modes: Mapping[ReplyMode, str]
    private_answers: str
    private_answers_on: str
    people_to_call: str
    people_hint: str
    save: str
    admins_only: str
    status_title: str
    status_nothing: str
    status_documents: str
    status_run: str
    status_no_run: str
    run_states: Mapping[str, str]
    status_failures: str
    status_failed_run: str
    status_hold: str
    status_more: str


_ZH = HomeTexts(
    title="知行 · 公司知识助手",
    how_title="怎么用",
    how=(
        "• 在频道里 @我 提问，或直接给我发消息。\n"
        "• `{command} 关键词` 搜索，`{command} help` 查看全部用法。\n"
        "• 我只引用您和在场的人都有权查看的页面，并附出处。"
    ),
    me_title="我所知道的您",
    unknown="我还不认识这个账号，因此您只能看到公开的内容。请联系管理员把您加入通讯录。",
    name="姓名：{value}",
    department="部门：{value}",
    job="职务：{value}",
    email="邮箱：{value}",
    groups="所在的组：{value}",
    no_groups="无",
    language="我说话用的语言",
    languages={"auto": "自动（按您的提问）", "zh": "中文", "en": "English"},
    questions_title="您最近的提问",
    no_questions="还没有。",
    questions_note="只有您能看到，保留 30 天。",
    actions_title="待办的操作",
    no_actions="没有等待处理的操作。",
    open_card="查看",
    waits_for_you="等您确认",
    asked_by_you="由您发起",
    forget="忘掉我的对话",
    forget_warning="我会忘掉您之前说过的话，并清空上面的提问记录。无法恢复。",
    forgotten="好的，已经忘掉了。",
    cancel="取消",
    admin_title="管理：频道设置",
    admin_note="选择一个频道，设定在那里怎样回答。",
    choose_channel="选择频道",
    channel_title="频道设置",
    channel_saved="频道 <#{channel}> 的设置已保存。",
    bases="在这个频道里使用的知识库",
    bases_hint="不选则使用全部。",
    reply_mode="什么时候回答",
    reply_modes={
        ReplyMode.DEFAULT: "按系统默认",
        ReplyMode.MENTIONS: "只在被 @ 时回答",
        ReplyMode.THREADS: "被 @ 之后，同一话题里的追问也回答",
        ReplyMode.QUESTIONS: "看到提问就回答，不用 @",
    },
    private_answers="私下补充",
    private_answers_on="提问者有权看、而频道里不是人人能看的内容，私下告诉提问者",
    people_to_call="需要人工时找谁",
    people_hint="有人要求转人工时会提到这些人。",
    save="保存",
    admins_only="同步情况只有管理员能查看。要找资料，直接向我提问就好。",
    status_title="知识库同步情况",
    status_nothing="还没有同步过任何来源。",
    status_documents="{documents} 篇文档",
    status_run="最近一次：{state}，{age}（{moment}）",
    status_no_run="还没有同步过",
    run_states={
        "running": "进行中", "done": "成功", "partial": "部分页面失败", "failed": "失败",
        "interrupted": "中断",
    },
    status_failures="{count} 个页面没能读取",
    status_failed_run="失败的任务：{kind}",
    status_hold="{count} 个页面的删除或权限变更待确认（{scope}）",
    status_more="逐页的原因请在服务器上运行 `zhixing status`。",
)  # fmt: skip

_EN = HomeTexts(
    title="Zhixing · knows what your company wrote",
    how_title="How to use me",
    how=(
        "• Mention me in a channel, or write to me directly.\n"
        "• `{command} words` searches, `{command} help` lists everything I do.\n"
        "• I quote only pages that you and everybody who listens may read, and name them."
    ),
    me_title="What I know about you",
    unknown=(
        "I don't know this account yet, so you see what is public only. Please ask an "
        "administrator to add you to the directory."
    ),
    name="Name: {value}",
    department="Department: {value}",
    job="Position: {value}",
    email="E-mail: {value}",
    groups="Groups: {value}",
    no_groups="none",
    language="Language I speak in",
    languages={"auto": "Automatic (that of your question)", "zh": "中文", "en": "English"},
    questions_title="Your recent questions",
    no_questions="None yet.",
    questions_note="Only you see them; they are kept for 30 days.",
    actions_title="Actions that are not over",
    no_actions="Nothing is waiting.",
    open_card="Open",
    waits_for_you="waits for you",
    asked_by_you="asked for by you",
    forget="Forget my conversations",
    forget_warning=(
        "I forget what you said before and clear the questions above. This can't be undone."
    ),
    forgotten="All right, that is forgotten.",
    cancel="Cancel",
    admin_title="Administration: channels",
    admin_note="Choose a channel to set how I answer there.",
    choose_channel="Choose a channel",
    channel_title="Channel settings",
    channel_saved="The settings of <#{channel}> are saved.",
    bases="Knowledge bases used in this channel",
    bases_hint="None chosen = all of them.",
    reply_mode="When I answer",
    reply_modes={
        ReplyMode.DEFAULT: "As the system's settings say",
        ReplyMode.MENTIONS: "Only when mentioned",
        ReplyMode.THREADS: "When mentioned, and what follows in that thread",
        ReplyMode.QUESTIONS: "Whenever I see a question, without a mention",
    },
    private_answers="Private additions",
    private_answers_on="Tell askers privately what they may read and not everybody there may",
    people_to_call="Whom to call when a human is needed",
    people_hint="They are named when somebody asks for a human.",
    save="Save",
    admins_only=(
        "How the sources are kept in step is shown to administrators only. To find something, "
        "just ask me."
    ),
    status_title="How the sources are kept in step",
    status_nothing="No source has been synced yet.",
    status_documents="{documents} documents",
    status_run="last run: {state}, {age} ({moment})",
    status_no_run="never synced yet",
    run_states={
        "running": "under way", "done": "succeeded", "partial": "some pages failed",
        "failed": "failed", "interrupted": "broke off",
    },
    status_failures="{count} pages could not be read",
    status_failed_run="failed job: {kind}",
    status_hold="deletions or rights of {count} pages wait for confirmation ({scope})",
    status_more="For the reason of each page, run `zhixing status` on the server.",
)  # fmt: skip


def get_home_texts(language: Language) -> HomeTexts:
    """Return the assistant's words for its App Home in a language."""
    return _ZH if language == "zh" else _EN
