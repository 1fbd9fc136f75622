"""Words that say nothing about a text's subject, in both languages."""

from knowledge.stemming import stem

_ENGLISH = """
a an the and or but nor so yet if then else than that this these those there here
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
am is are was were be been being do does did doing done have has had having
will would shall should can could may might must
of to in on at by for from with about into onto over under between through during after before
as not no only own same too very just also again further once both each few more most other some
such any all because until while against above below up down out off
s t re ve ll d m
"""
_CHINESE = """
的 了 着 过 地 得 之 和 与 及 或 而 且 但 并 并且 而且 以及 或者 但是 因为 所以 由于 因此 如果
虽然 然而 是 为 被 把 将 对 对于 关于 在 于 从 向 到 由 以 用 按 按照 根据 通过 进行 给 跟 让
使 就 都 也 还 又 再 才 只 我 你 您 他 她 它 我们 你们 他们 她们 它们 咱们 自己 这 那 这个 那个
这些 那些 这里 那里 此 其 该 本 有 没有 会 能 可 可以 应 应该 需要 必须 要 想 不 没 无 非 很 太
更 最 吗 呢 吧 啊 呀 嘛 哦 一个 一种 一些 等 等等 及其 其中
"""
_ENGLISH_QUESTION = """
what which who whom whose when where why how tell explain describe please know want need
much many long often today nowadays lol btw pls plz thx
"""
_CHINESE_QUESTION = """
什么 怎么 怎样 怎么样 怎么办 如何 为什么 为何 为啥 啥 哪 哪个 哪些 哪里 哪儿 哪种 哪一 哪位 谁
几 几个 多少 多久 何 何时 何地 是否 是不是 有没有 能不能 可不可以 能否 可否 请 请问 请教 告诉
介绍 一下 说明 解释 知道 想知道 想要
哪家 哪一年 哪一天 哪个月 哪项 哪类 哪款 哪部 哪座 哪所 哪国 哪年 哪天
现在 目前 当前 眼下 如今 好像 咋 呗 帮我
"""

_ENGLISH_TASK = """
according accordingly based compare comparison respectively specific specifically exact exactly
kind type name called known located summarize summarise summary outline list give make happen
happened occur occurred become became part way thing
"""
_CHINESE_TASK = """
比较 相比 对比 分别 各自 具体 情况 方面 总结 概括 概述 描述 结合 列出 列举 给出 名字 名称 时候
时间 时期 地方 特点 大约 大概 主要 可能 容易 里面 之中 月份 年份
更大 更高 更多 更好 多大 多高 多长 多远
"""


def _with_stems(words: str) -> frozenset[str]:
    """Text is stemmed before it is compared."""
    return frozenset(form for word in words.split() for form in (word, stem(word)))


STOP_WORDS = _with_stems(_ENGLISH + _CHINESE)
QUESTION_WORDS = _with_stems(_ENGLISH_QUESTION + _CHINESE_QUESTION)
"""What a question is worded with; says nothing about what it asks for, but may in a text."""
TASK_WORDS = QUESTION_WORDS | _with_stems(_ENGLISH_TASK + _CHINESE_TASK)
"""Also what is to be done with the answer; a page that answers need not hold these words."""
