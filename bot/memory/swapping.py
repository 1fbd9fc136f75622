"""Which part of the last question a follow-up replaces: "那病假呢？", "and in Berlin?".

A part is replaced by one of its own kind only: codes of one form, dates, names, words of one class
(cities, seasons, kinds of staff), or words with the same head (年假 and 病假). Anything less
certain is left to the caller.
"""

import re
from collections.abc import Iterable, Sequence

import rjieba

from bot.rag.values import Value, ValueKind, extract_values

# L4, K7-031: of one kind when the letters are the same.
_CODE = re.compile(r"(?<![A-Za-z0-9])(?P<kind>[A-Za-z]+)[-_ ]?\d[A-Za-z0-9_-]*")
# 三期, B 型, 第二阶段: a number or letter, then what is counted.
_COUNTED = re.compile(
    r"(?P<mark>第?[一二三四五六七八九十\d]+|[A-Za-z]\d?)\s*(?P<head>[\u3400-\u9fff]{1,3})"
)
_VARIANT = re.compile(r"(?P<letter>[A-Za-z])\s*[型款版类级]")
_VARIANT_OF_CODE = re.compile(r"(?<=\d-)(?P<letter>[A-Z])(?![A-Za-z0-9-])")
_QUOTED = re.compile(r"《[^》]+》|「[^」]+」|“[^”]+”|\"[^\"]+\"")
_PROPER = re.compile(r"(?<=[a-z0-9,;:)(] )[A-Z][\w'’-]*(?: (?:of |the )?[A-Z][\w'’-]*)*")
_PREPOSITION = re.compile(
    r"^(?P<word>for|in|at|on|from|to|with|during|by|within|after|before|over|under|outside|inside)\s+"
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
_HAN_ONLY = re.compile(r"[\u3400-\u9fff]+")
_MOST_HEAD = 4
_MOST_REST = 12
_DATES = frozenset({ValueKind.DATE, ValueKind.TIME})

# Words of one class stand for each other; in each pair of lists the languages are apart.
_CLASSES: Sequence[str] = (
    "正式员工|全职员工|兼职员工|外包员工|试用期员工|员工|外包人员|外包|实习生|应届生|顾问|派遣工|劳务派遣|兼职|全职"
    "|正式工|临时工|新员工|老员工|经理|主管|总监|访客|供应商|合作伙伴|客户",
    r"full-time employees|part-time employees|permanent staff|new hires|new joiners|employees"
    r"|contractors|interns|temps|trainees|consultants|freelancers|managers|directors|visitors"
    r"|guests|vendors|suppliers|partners|customers|staff",
    "北京|上海|广州|深圳|杭州|南京|苏州|成都|重庆|武汉|西安|天津|青岛|大连|厦门|宁波|长沙|郑州|合肥|济南|福州"
    "|昆明|沈阳|无锡|香港|澳门|台北|新加坡|东京|首尔|曼谷|吉隆坡|雅加达|悉尼|伦敦|巴黎|柏林|慕尼黑|纽约|旧金山|里斯本|马德里|迪拜",
    r"Beijing|Shanghai|Guangzhou|Shenzhen|Hangzhou|Nanjing|Suzhou|Chengdu|Chongqing|Wuhan|Xi'an"
    r"|Tianjin|Qingdao|Dalian|Xiamen|Ningbo|Hong Kong|Macau|Taipei|Singapore|Tokyo|Osaka|Seoul"
    r"|Bangkok|Kuala Lumpur|Jakarta|Sydney|Melbourne|London|Paris|Berlin|Munich|Hamburg|New York"
    r"|San Francisco|Boston|Chicago|Lisbon|Madrid|Barcelona|Rome|Milan|Vienna|Zurich|Dublin"
    r"|Amsterdam|Warsaw|Prague|Dubai|Mumbai|Toronto",
    "中国|美国|英国|德国|法国|日本|韩国|印度|泰国|越南|马来西亚|澳大利亚|欧洲|国内|国外|海外|境内|境外|本地|外地",
    r"China|the US|the UK|Germany|France|Japan|Korea|India|Thailand|Vietnam|Malaysia|Australia"
    r"|Europe|Asia|abroad|overseas|domestically",
    "旺季|淡季|工作日|周末|节假日|法定节假日|工作时间|非工作时间|白天|夜间|晚上|上午|下午|早上|夜班|白班",
    r"peak season|low season|off season|weekdays|weekends|weekend|public holidays|working hours"
    r"|office hours|nights|night|mornings|afternoons|evenings",
    "今年|去年|前年|明年|上半年|下半年|本月|上月|上个月|这个月|下个月|本周|上周|这周|下周|本季度|上季度|下季度",
    r"this year|last year|next year|this month|last month|next month|this week|last week|next week"
    r"|this quarter|last quarter|next quarter|today|tomorrow|yesterday",
    "周一|周二|周三|周四|周五|周六|周日|星期一|星期二|星期三|星期四|星期五|星期六|星期日",
    r"Mondays?|Tuesdays?|Wednesdays?|Thursdays?|Fridays?|Saturdays?|Sundays?",
    "初级|中级|高级|资深|主任级|总监级|经理级",
    r"junior|mid-level|senior|principal",
    "生产环境|测试环境|预发环境|预发|开发环境|灰度环境",
    r"production|staging|testing|development",
    "早餐|午餐|晚餐|夜宵",
    r"breakfast|lunch|dinner",
    "飞机|高铁|火车|打车|出租车|地铁|自驾",
    r"flights?|trains?|taxis?|taxi|cabs?|buses|cars?",
    "苹果|安卓|Windows|macOS|Linux|iOS|Android|Mac|iPhone",
    "第一次|第二次|第三次|首次",
)
_CLASS_PATTERNS = tuple(
    re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", re.IGNORECASE) for words in _CLASSES
)


def swap_part(rest: str, earlier: str, *, refers: bool = False) -> str | None:
    """Return the earlier question about `rest` instead; None when nothing is certainly replaced.

    Args:
        rest: What the follow-up names, without "那", "呢", "and" and the like.
        earlier: The question before, whole.
        refers: It leans on something said before itself: only a word of a class is exchanged.
    """
    text = rest.strip().removesuffix("的").strip()
    if not text:
        return None
    if refers:
        return _swap_class(text, earlier)
    for swap in (
        _swap_code,
        _swap_counted,
        _swap_variant,
        _swap_quoted,
        _swap_date,
        _swap_class,
        _swap_head,
        _add_class,
    ):
        if (swapped := swap(text, earlier)) is not None:
            return swapped
    return _swap_english(text, earlier)


def _swap_code(text: str, earlier: str) -> str | None:
    code = _CODE.fullmatch(text)
    if code is None:
        return None
    alike = [
        (match.start(), match.end())
        for match in _CODE.finditer(earlier)
        if match["kind"].casefold() == code["kind"].casefold()
    ]
    return _replace_only(alike, text, earlier)


def _swap_counted(text: str, earlier: str) -> str | None:
    counted = _COUNTED.fullmatch(text)
    if counted is None:
        return None
    head = re.escape(counted["head"])
    pattern = re.compile(rf"(?:第?[一二三四五六七八九十\d]+|(?<![A-Za-z])[A-Za-z]\d?)\s*{head}")
    alike = [(match.start(), match.end()) for match in pattern.finditer(earlier)]
    return _replace_only(alike, text, earlier)


def _swap_variant(text: str, earlier: str) -> str | None:
    """Exchange the letter that a code ends in: B 型 for the A of X9-A."""
    variant = _VARIANT.fullmatch(text)
    if variant is None:
        return None
    alike = [match.span("letter") for match in _VARIANT_OF_CODE.finditer(earlier)]
    return _replace_only(alike, variant["letter"].upper(), earlier)


def _swap_quoted(text: str, earlier: str) -> str | None:
    if not _QUOTED.fullmatch(text):
        return None
    alike = [(match.start(), match.end()) for match in _QUOTED.finditer(earlier)]
    return _replace_only(alike, text, earlier)


def _swap_date(text: str, earlier: str) -> str | None:
    """Exchange one date or time of day for another of the same form."""
    bare = _PREPOSITION.match(text)
    named = _find_date(bare["rest"] if bare else text)
    if named is None:
        return None
    dates = [one for one in extract_values(earlier) if one.kind is named.kind]
    alike = [(one.start, one.end) for one in dates if _has_form(one, named)]
    return _replace_only(alike, named.text, earlier)


def _find_date(text: str) -> Value | None:
    found = extract_values(text)
    is_whole = len(found) == 1 and found[0].text.strip() == text.strip()
    return found[0] if is_whole and found[0].kind in _DATES else None


def _has_form(one: Value, other: Value) -> bool:
    if one.date is None or other.date is None:
        return one.date is other.date
    # A month for a month, a year for a year.
    return [bool(part) for part in (one.date.month, one.date.day)] == [
        bool(part) for part in (other.date.month, other.date.day)
    ]


def _swap_class(text: str, earlier: str) -> str | None:
    bare = _PREPOSITION.match(text)
    word = (bare["rest"] if bare else text).strip()
    word = re.sub(r"^(?:the|our|a|an)\s+(?=\w)", "", word, flags=re.IGNORECASE)
    for pattern in _CLASS_PATTERNS:
        if not pattern.fullmatch(word):
            continue
        alike = [(match.start(), match.end()) for match in pattern.finditer(earlier)]
        if (swapped := _replace_only(alike, word, earlier)) is not None:
            return swapped
    return None


def _add_class(text: str, earlier: str) -> str | None:
    """Put a word of a class before a Chinese question that names none of that class."""
    if not _HAN_ONLY.search(earlier):
        return None
    for pattern in _CLASS_PATTERNS:
        if pattern.fullmatch(text):
            return None if pattern.search(earlier) else f"{text}{earlier}"
    return None


def _swap_head(text: str, earlier: str) -> str | None:
    """Exchange words with the same head: 年假 for 病假, 响应目标 for 解决目标."""
    if not _HAN_ONLY.fullmatch(text) or len(text) > _MOST_REST:
        return None
    words = list(_cut_words(earlier))
    for size in range(min(_MOST_HEAD, len(text) - 1), 0, -1):
        head = text[-size:]
        spans = [span for span in _find_heads(words, head) if earlier[slice(*span)] != text]
        if size == 1:
            # One character alone is a head of words of one length only.
            spans = [one for one in spans if one[1] - one[0] == len(text)]
        if spans:
            return _replace_only(spans, text, earlier)
    return None


def _cut_words(text: str) -> Iterable[tuple[int, int, str]]:
    place = 0
    for word in rjieba.cut(text):
        yield place, place + len(word), word
        place += len(word)


def _find_heads(words: Sequence[tuple[int, int, str]], head: str) -> list[tuple[int, int]]:
    """Return the spans of words, or of two neighbours, that end in a head."""
    spans = []
    for index, (start, end, word) in enumerate(words):
        if not word.endswith(head):
            continue
        if len(word) > len(head):
            spans.append((start, end))
        elif (
            index
            and _HAN_ONLY.fullmatch(words[index - 1][2])
            and not _FUNCTION_WORD.fullmatch(words[index - 1][2])
        ):
            spans.append((words[index - 1][0], end))
    return spans


_FUNCTION_WORD = re.compile(
    "的|了|在|是|有|和|与|或|及|把|被|给|对|从|到|要|能|会|可以|需要|应该|最多|最少|每|多少|几|什么|怎么|如何"
    "|哪|哪个|谁|我|我们|你|他|她|它|这|那|请问|我的|公司|一|不|没|没有|也|都|就|还|再|用|按"
)


def _swap_english(text: str, earlier: str) -> str | None:
    """Exchange a proper name for the only other one, or add what limits the question."""
    bare = _PREPOSITION.match(text)
    word = (bare["rest"] if bare else text).strip()
    if re.fullmatch(r"[A-Z][\w'’-]*(?: (?:of |the )?[A-Z][\w'’-]*)*", word):
        names = [(match.start(), match.end()) for match in _PROPER.finditer(earlier)]
        is_other_class = _find_date(word) is not None or any(
            pattern.fullmatch(word) for pattern in _CLASS_PATTERNS
        )
        if not is_other_class and (swapped := _replace_only(names, word, earlier)) is not None:
            return swapped
    return f"{earlier.rstrip(_END)} {text}?" if bare else None


_END = "?？。.!！ \t\n"


def _replace_only(spans: Sequence[tuple[int, int]], text: str, earlier: str) -> str | None:
    """Replace the only span there is; with none or several it is not certain which."""
    if len(spans) != 1:
        return None
    start, end = spans[0]
    if earlier[start:end].casefold() == text.casefold():
        return None
    return f"{earlier[:start]}{text}{earlier[end:]}"
