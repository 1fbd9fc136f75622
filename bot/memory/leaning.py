"""Whether a question needs the one before it to be understood. By rules, in both languages.

It does when it says so ("那……呢", "and ...?"), when a pronoun points at nothing in the question
itself, or when all its words are ones that any matter has (deadline, approval, 流程, 多久).
"""

import re

import rjieba

from bot.rag.language import detect_language

# "那权限呢？", "and for contractors?": what is asked changes, the matter stays.
ELLIPSIS_ZH = re.compile(
    r"^\s*(?:那么?|还有|另外|再问|以及)?[，,\s]*(?P<rest>.{1,20}?)(?:呢|又?怎么样|又?如何)[?？。!！\s]*$"
)
ELLIPSIS_EN = re.compile(
    r"^\s*(?:and|or|(?:and )?what about|(?:and )?how about)\b[\s,]*(?P<rest>.+?)[?!.\s]*$",
    re.IGNORECASE,
)
# What changes the subject in so many words: what follows is judged by itself.
_ASIDE = re.compile(
    r"^\s*(?:另外|还有|对了|顺便(?:问一?下?)?|再问一?个|换个问题|by the way|btw|also"
    r"|another question|one more (?:thing|question)|so)\s*[，,：:]\s*",
    re.IGNORECASE,
)
_LEADS_ON_ZH = re.compile(r"^\s*(?:那么?|那边|然后|接着|还有|另外|以及|同样)[，,\s]?")
_LEADS_ON_EN = re.compile(r"^\s*(?:and|also|then|so|but|even)\b", re.IGNORECASE)
# 这个季度 is a time, not something said before.
_TIME_ZH = r"(?:个?季度|个?月|一?周|个?星期|个?财年|个?学期|一?年|次会)"
REFERS_ZH = re.compile(
    rf"它们?|他们?的?|她们?|这个(?!{_TIME_ZH}|季度|月)|那个|这些|那些|这种|那种|这里|那里|这样|上面|前面"
    r"|刚才|其中|此时|该(?=[\u4e00-\u9fff])"
)
_REFERS_EN = re.compile(
    r"\b(?:it|its|they|them|theirs?|this|that|these|those|there|he|she|his|her|him|the same"
    r"|(?:which|that|this|other|another|new|old|first|second|last) ones?)\b",
    re.IGNORECASE,
)
# A demonstrative before a clause ("that we use"), a time ("this week"), "is there a", "it takes",
# and the department.
_BOUND_EN = re.compile(
    r"(?-i:\bIT\b)|"
    r"\b(?:that|this)(?= (?:we|you|i|they|are|is|was|were|has|have|can)\b)(?<!^this)(?<!^that)"
    r"|\bthis(?= (?:year|month|week|quarter|morning|afternoon|evening|time|summer|winter)\b)"
    r"|\b(?:is|are|was|were|will) there\b|\bthere (?:is|are|was|were)\b"
    r"|\bit(?= (?:takes?|possible|allowed|necessary|okay|ok)\b)",
    re.IGNORECASE,
)
_OWN_EN = frozenset(
    {"their", "theirs", "its", "his", "her", "it", "they", "them", "he", "she", "him"}
)
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9][\w'’./-]*")
# A question this short seldom names a matter and what is asked of it.
_SHORT_HAN = 7
_SHORT_WORDS = 4
# This long, a pronoun may point at what the question itself has named before.
_LONG_WORDS, _LONG_FOR_OWN = 8, 6
_LONG_HAN_BEFORE = 6
# What comes before the first of these is what a Chinese question is about.
TOPIC_END_ZH = re.compile(
    r"的|怎么|如何|怎样|是(?!否)|有(?!效)|要|能|可以|可否|需要|需|应该|多少|多久|多长|几|什么|哪|谁|在|最多|最少|最晚|最迟"
    r"|由|归|得|会|找|什|为什么|何时|[？?]"
)
_LATIN_TOPIC = re.compile(r"^\s*[A-Za-z][A-Za-z0-9.+-]+")
_NO_TOPIC_ZH = re.compile(
    r"^(?:没|不|还|再|先|都|就|也|超|过|已|未|如果|要是|最|一般|具体|大概|到底)|了$"
)

# Words that any matter has; a question of these alone names none.
_ANY_MATTER_ZH = """
的 了 吗 呢 啊 吧 呀 是 有 在 要 能 会 得 由 归 对 给 向 跟 和 与 或
从 到 把 被 为 用 按 就 也 都 还 再 先 才 又 很 太 我 我们 你 您 谁 哪
哪里 哪儿 哪个 哪些 哪天 哪位 什么 什么样 什么时候 何时 怎么 怎么办 怎样 如何
为什么 为何 多 多久 多长 多少 多大 多高 几 几天 几个 几次 几号 几点 天 个 次
号 点 人 时候 时间 需 需要 可以 可否 能否 是否 应该 应 必须 没 没有 不
有没有 能不能 可不可以 请问 一般 具体 大概 到底 最 最近 一次 上次 下次 最多
最少 最晚 最迟 最早 至少 提前 之前 之后 以前 以后 内 里 里面 前 后 上 下 找
去 来 做 办 办理 走 交 填 填写 提交 申请 审批 批 批准 审核 签 签字 负责
负责人 联系 联系人 处理 通知 开始 结束 截止 截止日期 截止时间 到期 过期 生效
有效 有效期 期限 时限 时长 流程 步骤 手续 材料 文件 表 表格 表单 条件 要求
标准 规定 例外 限制 上限 下限 额度 金额 费用 价格 成本 钱 押金 权限 范围 版本
修订 更新 修改 变更 地点 地址 位置 链接 入口 方式 办法 原因 结果 周期 频率
名额 人数 数量 报名 领取 领 归还 续 续期 延期 延长 取消 撤销 补 补办 使用
适用 支持 包括 包含 算 计算 出 出资 承担 报销 发 发放 部门 人员
"""
_GENERIC_ZH = frozenset(_ANY_MATTER_ZH.split())
_ANY_MATTER_EN = """
a an the and or but so then also even of for to in on at by with from as than if when
where who whom whose what which why how is are was were be been do does did can could may
might must should will would shall has have had i we you my our your me us any some all
every each no not only more less most least much many long often far soon late early there
it they them he she this that these those need needs needed get gets got take takes took
taking make made go goes give given ask asks apply applies applied approve approves
approved approval approvals sign signs signed submit request requests requested process
procedure procedures steps step deadline deadlines due date dates time times limit limits
maximum minimum cost costs price fee fees pay pays paid allowed allowance permission
permissions requirement requirements required exception exceptions rule rules condition
conditions document documents form forms version versions reason reasons contact owner
responsible charge valid validity expire expires extended extend renew renewed change
changed update updated start starts end ends before after again now exactly usually please
grant granted else same
"""
_GENERIC_EN = frozenset(_ANY_MATTER_EN.split())
ASKS_EN = re.compile(
    r"^\s*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|may"
    r"|must|should|will|would|has|have)\b",
    re.IGNORECASE,
)


def leans_on_earlier(question: str) -> bool:
    """Tell whether a question needs the one before it to be understood."""
    text = question.strip()
    is_chinese = detect_language(text) == "zh"
    aside = _ASIDE.match(text)
    if aside and not (ELLIPSIS_ZH if is_chinese else ELLIPSIS_EN).match(text[aside.end() :]):
        text = text[aside.end() :]
    return _leans_zh(text) if is_chinese else _leans_en(text)


def refers_back(text: str) -> bool:
    """Tell whether a pronoun of a text points at nothing in the text itself."""
    return _refers_zh(text) or _refers_en(text)


def is_generic(text: str) -> bool:
    """Tell whether a text names nothing but what any matter has."""
    words = [word for word in rjieba.cut(text) if _HAN.search(word) or _WORD.search(word)]
    return all(
        word in _GENERIC_ZH or word.casefold() in _GENERIC_EN or _is_made_of_generic(word)
        for word in words
    )


def _is_made_of_generic(word: str) -> bool:
    """Tell whether a Chinese word is two generic ones: 审批流程, 多久内."""
    return any(
        word[:cut] in _GENERIC_ZH and word[cut:] in _GENERIC_ZH for cut in range(1, len(word))
    )


def _leans_zh(text: str) -> bool:
    if ELLIPSIS_ZH.match(text) or _LEADS_ON_ZH.match(text) or _refers_zh(text):
        return True
    if is_generic(text):
        return True
    size = len(_HAN.findall(text)) + len(_WORD.findall(text))
    return size <= _SHORT_HAN and not _has_topic_zh(text)


def _has_topic_zh(text: str) -> bool:
    """Tell whether a short question begins with a matter of its own: 工牌怎么补办."""
    if _LATIN_TOPIC.match(text):
        return True
    end = TOPIC_END_ZH.search(text)
    topic = text[: end.start()].strip() if end else ""
    return len(topic) > 1 and not _NO_TOPIC_ZH.search(topic) and not is_generic(topic)


def _refers_zh(text: str) -> bool:
    found = REFERS_ZH.search(text)
    if found is None:
        return False
    # 电脑坏了以后它的数据怎么恢复: what it points at stands before it.
    is_own = found.group()[0] in "它他她" and found.start() >= _LONG_HAN_BEFORE
    return not (is_own and not is_generic(text[: found.start()]))


def _leans_en(text: str) -> bool:
    if ELLIPSIS_EN.match(text) or _LEADS_ON_EN.match(text) or _refers_en(text):
        return True
    if is_generic(text):
        return True
    return len(_WORD.findall(text)) <= _SHORT_WORDS and not ASKS_EN.match(text)


def _refers_en(text: str) -> bool:
    loose = _BOUND_EN.sub(" ", text)
    found = _REFERS_EN.search(loose)
    if found is None:
        return False
    word, size = found.group().casefold(), len(_WORD.findall(loose))
    if word not in _OWN_EN or is_generic(loose[: found.start()]):
        return True
    return size < (_LONG_FOR_OWN if word in {"their", "its", "his", "her"} else _LONG_WORDS)
