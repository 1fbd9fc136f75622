"""Everything the pages say, in Chinese and English."""

from collections.abc import Mapping
from typing import Literal

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")

_TEXTS: Mapping[str, tuple[str, str]] = {
    "product": ("知行 · 运维", "Zhixing · operations"),
    "skip": ("跳到正文", "Skip to the content"),
    "traces": ("提问记录", "Traces"),
    "overview": ("概览", "Overview"),
    "leave": ("退出", "Sign out"),
    "other_language": ("English", "中文"),
    "as_operator": ("运维人员", "operator"),
    "viewing_as": ("当前身份", "Viewing as"),
    # Entering and what goes wrong.
    "enter_title": ("输入访问令牌", "Enter your token"),
    "enter_hint": (
        "用 zhixing admin 生成令牌，或向运维人员索取。令牌不会出现在网址里。",
        "Make one with zhixing admin, or ask whoever runs this. It never appears in an address.",
    ),
    "token": ("令牌", "Token"),
    "enter": ("进入", "Enter"),
    "token_wrong": (
        "令牌不对，或已失效。",
        "This token is not known, or holds no more.",
    ),
    "error_400": ("请求有误", "Bad request"),
    "error_401": ("需要令牌", "A token is needed"),
    "error_403": ("不允许", "Not allowed"),
    "error_404": ("没有这个页面", "Nothing here"),
    "error_405": ("不支持这种请求方式", "Not possible this way"),
    "error_413": ("请求内容过大", "Too much was sent"),
    "error_421": ("不认识这个主机名", "Unknown host name"),
    "error_429": ("请求过于频繁", "Too many tries"),
    "error_500": ("页面出错了", "The page failed"),
    "hint_400": ("请检查填写的内容。", "Look at what was filled in, and try again."),
    "hint_401": ("请先输入令牌。", "Enter your token first."),
    "hint_403": (
        "请求来自其他网站，或表单已过期。请重新打开页面再试。",
        "It came from another site, or the form is too old. Open the page anew and try again.",
    ),
    "hint_404": (
        "记录只保留 30 天；也可能本来就没有这条记录。",
        "Traces are kept for 30 days; or there never was one by that id.",
    ),
    "hint_405": ("请从页面上的链接或按钮进入。", "Use the links and buttons of the pages."),
    "hint_413": ("请缩短填写的内容。", "Make what was filled in shorter."),
    "hint_421": (
        "请用 127.0.0.1 或 localhost 打开，或把这个主机名写进 admin.hosts。",
        "Ask for it as 127.0.0.1 or localhost, or name this host in admin.hosts.",
    ),
    "hint_429": ("请稍等片刻再试。", "Wait a little, then try again."),
    "hint_500": ("原因已写入日志。", "The log says why."),
    "back": ("返回提问记录", "Back to the traces"),
    "bad_value": ("“{field}”的取值不对。", "The value of {field} is out of range."),
    "bad_date": (
        "“{value}”不是日期，请写成 2026-03-31。",
        "{value} is no date; write it like 2026-03-31.",
    ),
    "bad_reason": (
        "请填写查看理由（{least} 到 {most} 个字）。",
        "Give a reason of {least} to {most} characters.",
    ),
    "glass_whole": (
        "这里不开放查看他人的提问（admin.break_glass 未启用）。",
        "What others asked is not opened here (admin.break_glass is off).",
    ),
    "replay_slow": ("重放超过 {seconds} 秒，已停止。", "The replay took more than {seconds} s."),
    "replay_lost": (
        "重放的记录没有保存下来，原因见日志。",
        "The replay's trace was not kept; the log says why.",
    ),
    "replay_stranger": (
        "目录里没有这位提问者，不能以其身份重放。",
        "The directory does not know the asker, so nothing can be replayed as them.",
    ),
    # The list.
    "search": ("查找", "Search"),
    "words": ("我的提问中的词", "Words of my own questions"),
    "asker": ("提问者", "Asker"),
    "place": ("地点", "Place"),
    "route": ("路线", "Route"),
    "outcome": ("结果", "Outcome"),
    "since": ("从", "From"),
    "until": ("到（含）", "Until (incl.)"),
    "slow_ms": ("至少用时（毫秒）", "Took at least (ms)"),
    "least_tokens": ("至少用词元", "Tokens, at least"),
    "kind": ("类别", "Kind"),
    "questions": ("提问", "Questions"),
    "replays": ("重放", "Replays"),
    "everything": ("全部", "All"),
    "clear": ("清空条件", "Clear"),
    "when": ("时间", "Time"),
    "question": ("问题", "Question"),
    "took": ("用时", "Took"),
    "tokens": ("词元", "Tokens"),
    "cost": ("费用", "Cost"),
    "hidden_question": ("他人的提问", "Asked by somebody else"),
    "operator": ("命令行", "command line"),
    "none_found": ("没有符合条件的记录。", "No trace fits."),
    "older": ("更早的记录", "Older"),
    "newest": ("最新的记录", "Newest"),
    "list_caption": ("提问记录，最新的在前", "Traces, newest first"),
    # One trace.
    "trace": ("记录", "Trace"),
    "understood": ("理解为", "Understood as"),
    "routing": ("路线与理由", "Route and reason"),
    "replay_of": ("重放自", "Replay of"),
    "timeline": ("时间线", "Timeline"),
    "timeline_caption": ("每一步的开始、用时与用量", "Start, duration and usage of each step"),
    "step": ("步骤", "Step"),
    "start": ("开始", "Start"),
    "note": ("说明", "Note"),
    "along": ("时间轴", "Along the time"),
    "passages": ("段落", "Passages"),
    "passage": ("段落", "Passage"),
    "version": ("版本", "Version"),
    "fate": ("去向", "Kept or dropped"),
    "cited": ("已引用", "cited"),
    "verdict": ("判断", "Verdict"),
    "no_passages": ("没有可以显示的段落。", "No passages to show."),
    "citations": ("答案的引用", "What the answer cites"),
    "no_citations": ("没有可以显示的引用。", "No citations to show."),
    "plan": ("计划的变化", "The plan and its revisions"),
    "plan_by": ("起因段落", "Because of"),
    "plan_number": ("第 {number} 版", "Revision {number}"),
    "tools": ("工具调用", "Tool calls"),
    "tool": ("工具", "Tool"),
    "result": ("结果", "Result"),
    "ok": ("成功", "ok"),
    "not_ok": ("失败", "failed"),
    "findings_hidden": (
        "部分说明未显示：它们可能涉及您现在看不到的内容。",
        "Some notes are not shown: they may tell of what you can't read today.",
    ),
    "outline_only": (
        "这是他人的提问，只显示过程的轮廓。",
        "Somebody else asked this; only the outline is shown.",
    ),
    "glass_title": ("查看内容", "Open the content"),
    "glass_hint": (
        "查看会写入审计日志，包括您的身份和理由。段落仍按您自己今天的权限显示。",
        "The audit log will tell that you did, and why. Passages are shown under your own rights "
        "of today.",
    ),
    "reason": ("理由", "Reason"),
    "open": ("查看", "Open"),
    "audited": ("本次查看已写入审计日志。", "The audit log tells of this viewing."),
    # Replay.
    "replay": ("换设置重放", "Replay with other settings"),
    "replay_hint": (
        "再问一次，与原来的结果对照。重放不会执行任何操作。",
        "Asks once more and compares. A replay never does anything.",
    ),
    "mode": ("检索方式", "Search by"),
    "mode_hybrid": ("词语与语义", "words and meaning"),
    "mode_words": ("只用词语", "words only"),
    "mode_vectors": ("只用语义", "meaning only"),
    "fusion": ("融合方式", "Fusion"),
    "fusion_score": ("按分数", "by score"),
    "fusion_rrf": ("按名次（RRF）", "by rank (RRF)"),
    "recall_terms": ("词语召回数", "Recalled by words"),
    "recall_vector": ("语义召回数", "Recalled by meaning"),
    "candidates": ("候选数", "Candidates"),
    "limit": ("保留数", "Kept"),
    "sufficiency": ("判断证据是否足够", "Judge whether the evidence is enough"),
    "with_model": ("使用语言模型", "Use the chat model"),
    "as_of": ("截至日期", "As of"),
    "rights": ("按谁的权限", "Under the rights of"),
    "rights_viewer": ("我自己", "myself"),
    "rights_asker": ("提问者", "the asker"),
    "run_replay": ("重放", "Replay"),
    "replayed": ("重放结果", "Replay"),
    "before": ("原来", "Before"),
    "after": ("重放", "Replay"),
    "moved": ("变化", "Moved"),
    "new": ("新增", "new"),
    "gone": ("不再出现", "gone"),
    "same": ("不变", "same"),
    "answer": ("答案", "Answer"),
    "private_answer": ("仅提问者可见", "For the asker alone"),
    "answer_hidden": (
        "答案未显示：它依据的是提问者的权限。",
        "The answer is not shown: it rests on the asker's rights.",
    ),
    "draft_only": (
        "会起草“{skill}”，但重放不会创建操作。",
        "It would draft {skill}; a replay makes no action of it.",
    ),
    "compared": ("段落名次对照", "Where passages moved"),
    "place_before": ("原名次", "Place before"),
    "place_after": ("现名次", "Place now"),
    "its_trace": ("这次重放的记录", "The replay's own trace"),
    # Overview.
    "last_days": ("最近 {days} 天", "Last {days} days"),
    "only_own": ("只统计您自己的提问。", "Only your own questions are counted."),
    "days_caption": ("每天的提问数（UTC）", "Questions a day (UTC)"),
    "day": ("日期", "Day"),
    "total": ("合计", "Total"),
    "routes_caption": ("各路线的用时与费用", "Time and cost a route"),
    "median": ("中位用时", "Median"),
    "most": ("最长用时", "Longest"),
    "feedback": ("反馈", "Feedback"),
    "chat_questions": ("聊天中的提问", "Questions in chats"),
    "solved": ("已解决", "Solved"),
    "unsolved": ("未解决", "Not solved"),
    "handed_over": ("转人工", "Handed over"),
    "sources": ("知识来源", "Sources"),
    "source": ("来源", "Source"),
    "documents": ("文档", "Documents"),
    "failures": ("读取失败", "Failed"),
    "held": ("待确认", "Held"),
    "last_run": ("最近一次同步", "Last run"),
    "completeness": ("完整度", "Completeness"),
    "no_sources": ("还没有同步过。", "Nothing synced yet."),
    "troubles": ("出错的任务", "Jobs that failed"),
    "no_troubles": ("没有出错的任务。", "No job failed."),
    "job": ("任务", "Job"),
    "status": ("状态", "Status"),
    "see_status": ("详情见 zhixing status。", "zhixing status tells the details."),
    "nothing_yet": ("这段时间没有提问。", "No questions in this time."),
}  # fmt: skip

_NAMES: Mapping[str, tuple[str, str]] = {
    "outcome answered": ("已回答", "answered"),
    "outcome not_found": ("未找到", "not found"),
    "outcome no_access": ("无权限", "no access"),
    "outcome clarify": ("需澄清", "to clarify"),
    "outcome conflict": ("有冲突", "conflict"),
    "outcome proposed": ("已起草操作", "drafted"),
    "outcome chitchat": ("闲聊", "small talk"),
    "outcome failed": ("出错", "failed"),
    "route chitchat": ("闲聊", "small talk"),
    "route help": ("帮助", "help"),
    "route clarify": ("澄清", "clarify"),
    "route faq": ("检索问答", "search"),
    "route multi_hop": ("多步", "several steps"),
    "route action": ("操作", "action"),
    "fate kept": ("保留", "kept"),
    "fate same_section": ("保留（同一小节）", "kept, same section"),
    "fate section_limit": ("舍弃：小节数已满", "dropped: too many sections"),
    "fate below_threshold": ("舍弃：证据不足", "dropped: too little evidence"),
    "fate cut": ("舍弃：名次靠后", "dropped: ranked too low"),
    "fate reranked": ("舍弃：重排后靠后", "dropped: reranked too low"),
    "fate locked": ("舍弃：当时不可读或已失效", "dropped: not readable, or no longer in force"),
    "fate fusion": ("舍弃：融合后靠后", "dropped: fused too low"),
    "step understand": ("理解问题", "understand"),
    "step memory": ("会话记忆", "memory"),
    "step route": ("选择路线", "route"),
    "step route: light model": ("路线：轻量模型", "route: light model"),
    "step analyse": ("分析词语", "analyse"),
    "step recall: terms": ("召回：词语", "recall: words"),
    "step recall: vector": ("召回：语义", "recall: meaning"),
    "step recall: foreign": ("召回：跨语言", "recall: other languages"),
    "step recall: codes": ("召回：编号", "recall: codes"),
    "step fuse": ("融合", "fuse"),
    "step lock": ("核对权限", "check rights"),
    "step rescore": ("重新打分", "rescore"),
    "step named pages": ("点名的页面", "pages named"),
    "step prefer": ("偏好", "prefer"),
    "step rerank": ("重排", "rerank"),
    "step sufficiency": ("证据是否足够", "enough evidence?"),
    "step cut": ("截取", "cut"),
    "step answer": ("作答", "answer"),
    "step draft": ("起草", "draft"),
    "step records": ("查业务数据", "records"),
    "step condition": ("判断条件", "condition"),
    "step part": ("分步提问", "part"),
    "step agent: end": ("智能体结束", "agent: end"),
    "step agent: answer": ("智能体作答", "agent: answer"),
    "audience public": ("公开", "public"),
    "audience private": ("仅提问者", "for the asker"),
    "audience part": ("分步", "part"),
    "score bm25": ("BM25", "BM25"),
    "score vector": ("语义", "meaning"),
    "score code": ("编号", "codes"),
    "score fused": ("融合", "fused"),
    "score words": ("词语", "words"),
    "score rescored": ("重新打分", "rescored"),
    "score named": ("点名", "named"),
    "score guides": ("操作指南", "guide"),
    "score metadata": ("元数据", "metadata"),
    "score reranked": ("重排", "reranked"),
    "status done": ("完成", "done"),
    "status partial": ("部分完成", "partial"),
    "status failed": ("失败", "failed"),
    "status running": ("进行中", "running"),
    "status interrupted": ("中断", "interrupted"),
    "kind sync": ("手动同步", "sync"),
    "kind incremental": ("增量同步", "incremental"),
    "kind reconciliation": ("全量核对", "reconciliation"),
    "kind rights": ("权限核对", "rights"),
    "kind pruning": ("清理旧版本", "pruning"),
    "kind forgetting": ("清除页面", "forgetting"),
    "kind expiry": ("过期处理", "expiry"),
}
_NUMBERED: tuple[tuple[str, tuple[str, str]], ...] = (
    ("agent: step ", ("智能体第 {} 步", "agent: step {}")),
    ("agent: draft ", ("智能体起草 {}", "agent: draft {}")),
    ("plan ", ("计划第 {} 版", "plan {}")),
    ("tool: ", ("工具 {}", "tool {}")),
)

# How notes of traces begin, which are kept in English; the rest of a note stands as it is.
_NOTES: tuple[tuple[str, str], ...] = (
    ("not enough, ", "证据不足，"),
    ("enough, ", "证据足够，"),
    ("nothing was found", "什么也没有找到"),
    ("off topic: coverage ", "离题：覆盖率 "),
    ("what is asked of the named page is missing: ", "点名的页面里没有所问的内容："),
    ("like labelled examples", "与标注示例相近"),
    ("unsure, the likeliest", "不确定，取最可能的一种"),
    ("searched, though it may be ", "仍去检索，虽然可能是 "),
    ("a light model's choice", "由轻量模型选择"),
    ("asks for something to be done", "要求执行操作"),
    ("found nothing", "没有找到"),
    ("refused: ", "已拒绝："),
    ("stands on its own", "问题本身完整"),
    ("missing: ", "缺少："),
)


class Texts:
    """What is said in one language; a name that is not known stands as it is."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._place = LANGUAGES.index(language)

    def __getitem__(self, key: str) -> str:
        return _TEXTS[key][self._place]

    def name(self, kind: str, name: str) -> str:
        """Return what one of the product's own names is called: `outcome answered`."""
        known = _NAMES.get(f"{kind} {name}")
        if known is not None:
            return known[self._place]
        for head, said in _NUMBERED if kind == "step" else ():
            if name.startswith(head):
                return said[self._place].format(name.removeprefix(head))
        return name

    def retell(self, note: str) -> str:
        """Return a trace's note, its beginnings that are known in this language."""
        if self.language == "en":
            return note
        return "；".join(self._tell(part) for part in note.split("; "))

    def _tell(self, part: str) -> str:
        for head, said in _NOTES:
            if part.startswith(head):
                return said + part.removeprefix(head)
        way, colon, reason = part.partition(": ")
        if colon and f"route {way}" in _NAMES:
            return f"{self.name('route', way)}：{self._tell(reason)}"
        known = _NAMES.get(f"outcome {part}")
        return part if known is None else known[0]


def choose_language(chosen: str, accepted: str) -> Language:
    """Return the language somebody chose, else the first of the browser's that we speak."""
    if chosen in LANGUAGES:
        return "zh" if chosen == "zh" else "en"
    weighed = []
    for place, entry in enumerate(accepted.split(",")):
        name, _, weight = entry.strip().partition(";q=")
        try:
            weighed.append((-float(weight or 1), place, name[:2].lower()))
        except ValueError:
            continue
    names = [name for _, _, name in sorted(weighed)]
    return next(("zh" if one == "zh" else "en" for one in names if one in LANGUAGES), "en")
