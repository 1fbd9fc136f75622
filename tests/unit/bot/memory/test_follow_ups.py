"""A labelled set of follow-ups in both languages: what the whole question keeps and gives up.

The rules were written with this set in sight: it guards them, and measures nothing.
"""

import pytest

from bot.memory.follow_ups import resolve_follow_up

# The question before, the follow-up, what must stand in the whole question, what must not.
CASES: list[tuple[str, str, str, str]] = [
    ("年假一年有几天？", "那病假呢？", "病假 一年 几天", "年假"),
    ("正式员工的餐补每月多少？", "那外包呢？", "外包 餐补 每月", "正式员工"),
    ("杭州的住宿上限是每晚多少？", "成都呢？", "成都 住宿上限 每晚", "杭州"),
    ("二期的验收日期是哪天？", "三期呢？", "三期 验收日期", "二期"),
    ("A 型网关的功耗是多少？", "那 B 型的呢？", "B 型 网关 功耗", "A 型"),
    ("P2 工单的响应时限是多久？", "那 P3 呢？", "P3 响应时限", "P2"),
    ("一级故障的响应目标是多少？", "解决目标呢？", "解决目标 一级故障", "响应目标"),
    ("差旅报销要在几天内提交？", "那招待费报销呢？", "招待费报销 几天内", ""),
    ("《信息安全规范》是谁写的？", "《数据分级规范》呢？", "《数据分级规范》 谁写的", "信息安全"),
    ("旺季的酒店上限是多少？", "淡季呢？", "淡季 酒店上限", "旺季"),
    ("生产环境的发布窗口是几点？", "测试环境呢？", "测试环境 发布窗口", "生产环境"),
    ("3 月的值班是谁？", "那 4 月呢？", "4 月 值班", "3 月"),
    ("下周一的例会在哪开？", "周三呢？", "例会 周三", ""),
    ("堡垒机怎么申请？", "它的有效期多久？", "堡垒机 有效期", "它"),
    ("备用机在哪里领？", "那个要押金吗？", "备用机 押金", "那个"),
    ("供应商准入要哪些材料？", "审批要多久？", "供应商准入 审批", ""),
    ("会议室最长能订几小时？", "那权限呢？", "会议室 权限", ""),
    ("坐高铁能报几等座？", "飞机呢？", "飞机 报几等座", "高铁"),
    ("离职前多久要交接完？", "那电脑呢？", "离职 电脑", ""),
    ("转正答辩由谁主持？", "然后呢，多久出结果？", "转正答辩 多久出结果", ""),
    ("今年的调薪在几月？", "去年呢？", "去年 调薪", "今年"),
    ("早餐补贴是多少钱？", "晚餐呢？", "晚餐 补贴", "早餐"),
    ("产假有多少天？", "陪产假呢？", "陪产假 多少天", ""),
    ("工牌丢了怎么补办？", "门禁卡呢？", "门禁卡 补办", ""),
    ("How many days of leave do employees get?", "And for contractors?",
     "contractors days of leave", "employees"),
    ("What is the hotel limit in Berlin in August?", "What about Lisbon?",
     "Lisbon August hotel limit", "Berlin"),
    ("What is the hotel limit in Berlin?", "And in August?", "Berlin August hotel limit", ""),
    ("What does K7-031 mean?", "And K7-044?", "K7-044 mean", "K7-031"),
    ("Who approves a P1 change?", "what about P2?", "P2 change approves", "P1"),
    ("How is parking booked on weekdays?", "And at weekends?", "weekends parking booked",
     "weekdays"),
    ("Which team is Mara Lindqvist in?", "And Jonas Weber?", "Jonas Weber team", "Mara"),
    ("When is the freeze in 2025?", "And in 2026?", "2026 freeze", "2025"),
    ("What is the lunch allowance?", "And dinner?", "dinner allowance", "lunch"),
    ("How do I request a laptop?", "How long does it take?", "laptop How long", ""),
    ("How long is the notice period?", "And during probation?", "notice period probation", ""),
    ("Where do I hand in receipts in Paris?", "And the deadline there?",
     "Paris receipts deadline", ""),
    ("What is the backup window in production?", "And in staging?", "staging backup window",
     "production"),
    ("Who do interns report to?", "How about trainees?", "trainees report to", "interns"),
    ("May I fly business for long trips?", "And trains?", "long trips trains", ""),
    ("When was payroll paid last month?", "And this month?", "payroll this month", "last month"),
    ("How much is a badge replacement?", "Who pays for it?", "badge replacement pays", ""),
    ("Is overtime paid on Saturdays?", "And Sundays?", "Sundays overtime paid", "Saturdays"),
]  # fmt: skip


def holds(text: str, word: str) -> bool:
    return word.casefold() in text.casefold()


@pytest.mark.parametrize(("earlier", "question", "kept", "gone"), CASES)
def test_a_follow_up_keeps_the_subject_and_swaps_what_is_replaced(
    earlier: str, question: str, kept: str, gone: str
) -> None:
    whole = resolve_follow_up(question, earlier).question
    wanted = kept.split(" ") if not whole.isascii() else kept.split()
    assert all(holds(whole.replace(" ", ""), word.replace(" ", "")) for word in wanted), whole
    assert not gone or not holds(whole, gone), whole


@pytest.mark.parametrize(
    ("earlier", "question"),
    [
        ("年假能结转几天？", "数据库主从切换前复制延迟要低于多少？"),
        ("What is the hotel limit in Berlin?", "Which form do I need for a new laptop in Vienna?"),
        ("年假能结转几天？", "北京办公室的访客要提前多久登记？"),
    ],
)
def test_a_new_question_is_left_alone(earlier: str, question: str) -> None:
    assert resolve_follow_up(question, earlier).question == question
