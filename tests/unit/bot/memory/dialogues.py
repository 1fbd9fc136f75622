"""Dialogues in both languages: how each message is to be understood after the one before it.

Every second dialogue is for developing the rules; the others report how well they do. A message is
understood when every word of `kept` stands in the whole question and no word of `gone`; without
either it is a question of its own, and has to stay as it is.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Message:
    """A message after others; words of `kept` and `gone` are separated by `|`."""

    text: str
    kept: str = ""
    gone: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it is a question of its own."""
        return not (self.kept or self.gone)


M = Message
Dialogue = tuple[str, tuple[Message, ...]]

DIALOGUES: tuple[Dialogue, ...] = (
    # --- Chinese
    (
        "婚假能休几天？",
        (M("那丧假呢？", "丧假|几天", "婚假"), M("需要提前多久申请？", "丧假|提前多久")),
    ),
    (
        "深圳办公室的停车位怎么申请？",
        (M("那广州的呢？", "广州|停车位|申请", "深圳"), M("费用谁出？", "停车位|费用")),
    ),
    (
        "笔记本电脑多久能换新？",
        (M("它的保修期多长？", "笔记本电脑|保修期", "它"), M("公司班车几点发车？")),
    ),
    (
        "客户演示环境怎么开通？",
        (M("有效期多久？", "演示环境|有效期"), M("过期了还能续吗？", "演示环境|续")),
    ),
    ("今年的体检安排在什么时候？", (M("去年呢？", "去年|体检", "今年"), M("体检报告在哪里领取？"))),
    (
        "P1 故障要几分钟内响应？",
        (M("P2 呢？", "P2|几分钟|响应", "P1"), M("那由谁升级？", "P2|升级")),
    ),
    (
        "实习生的餐补标准是多少？",
        (M("正式员工呢？", "正式员工|餐补", "实习生"), M("VPN 怎么申请？")),
    ),
    (
        "采购合同谁来审批？",
        (M("超过十万的呢？", "采购合同|审批|超过十万"), M("那盖章找谁？", "合同|盖章")),
    ),
    (
        "代码评审至少要几个人通过？",
        (
            M("这个要求对紧急修复也适用吗？", "代码评审|紧急修复"),
            M("测试环境的数据库密码多久轮换一次？"),
        ),
    ),
    ("加班可以换调休吗？", (M("周末的呢？", "周末|加班|调休"), M("调休要在多久内用完？"))),
    (
        "新供应商入库要交哪些材料？",
        (M("审批流程呢？", "供应商|审批流程"), M("这个季度的全员大会定在哪天？")),
    ),
    (
        "三号会议室能坐多少人？",
        (M("五号的呢？", "五号|会议室|多少人", "三号"), M("里面有投影吗？", "会议室|投影")),
    ),
    (
        "出差坐高铁可以买一等座吗？",
        (M("飞机呢？", "飞机", "高铁"), M("这些票怎么报销？", "飞机|报销")),
    ),
    ("试用期是几个月？", (M("能提前转正吗？", "试用期|提前转正"), M("门禁卡丢了找谁补办？"))),
    (
        "邮箱容量上限是多少？",
        (M("超了怎么办？", "邮箱|超了"), M("那网盘呢？", "网盘|容量", "邮箱")),
    ),
    (
        "安全培训什么时候截止？",
        (M("没完成会怎样？", "安全培训|没完成"), M("在哪报名？", "安全培训|报名")),
    ),
    (
        "《出差管理办法》是哪个部门制定的？",
        (
            M("《合同管理办法》呢？", "《合同管理办法》|哪个部门", "出差"),
            M("最近一次修订是什么时候？", "《合同管理办法》|修订"),
        ),
    ),
    (
        "上半年的预算什么时候冻结？",
        (M("那下半年的呢？", "下半年|预算|冻结", "上半年"), M("年假最多能攒多少天？")),
    ),
    # --- English
    (
        "How many sick days do employees get?",
        (
            M("And for contractors?", "contractors|sick days", "employees"),
            M("Do they need a doctor's note?", "contractors|note"),
        ),
    ),
    (
        "What is the hotel limit in Munich?",
        (
            M("What about Vienna?", "Vienna|hotel limit", "Munich"),
            M("And the meal allowance there?", "Vienna|meal allowance"),
        ),
    ),
    (
        "Who approves a purchase above 5,000 euros?",
        (
            M("And below that?", "purchase|below"),
            M("How long does the approval take?", "purchase|approval"),
        ),
    ),
    (
        "How do I get a parking permit?",
        (
            M("How much does it cost?", "parking permit|cost"),
            M("Where is the first-aid kit kept on the third floor?"),
        ),
    ),
    (
        "When does the office close on Fridays?",
        (
            M("And on Mondays?", "Mondays|office close", "Fridays"),
            M("What about public holidays?", "public holidays|office"),
        ),
    ),
    (
        "What was the revenue target last year?",
        (
            M("What about this year?", "this year|revenue target", "last year"),
            M("Who runs IT support at weekends?"),
        ),
    ),
    (
        "How long are visitor badges valid?",
        (
            M("Can they be extended?", "visitor badges|extended"),
            M("Can employees bring their own monitor to the office?"),
        ),
    ),
    (
        "Which version of the client do Windows users need?",
        (
            M("And on Mac?", "Mac|version|client", "Windows"),
            M("Is there a shuttle between the two sites?"),
        ),
    ),
    (
        "What does error E-417 mean?",
        (M("and E-503?", "E-503|mean", "E-417"), M("How do I fix it?", "E-503|fix")),
    ),
    (
        "How is overtime paid?",
        (M("even at night?", "overtime|night"), M("What does MFA stand for?")),
    ),
    (
        "Where do I submit travel expenses?",
        (M("By when?", "travel expenses|when"), M("Who checks them?", "travel expenses|checks")),
    ),
    (
        "Which laptop models can designers order?",
        (
            M("How about developers?", "developers|laptop models", "designers"),
            M("How many vacation days can be carried over?"),
        ),
    ),
    (
        "When is the release freeze in December?",
        (
            M("And in March?", "March|release freeze", "December"),
            M("who can grant exceptions?", "release freeze|exceptions"),
        ),
    ),
    (
        "What is the SLA for priority 1 tickets?",
        (
            M("And priority 2?", "priority 2|SLA", "priority 1"),
            M("If a laptop is stolen, who do I report it to?"),
        ),
    ),
    (
        "Does the canteen open on Saturdays?",
        (
            M("Sundays?", "Sundays|canteen", "Saturdays"),
            M("Which forms do new joiners have to sign on their first day?"),
        ),
    ),
    (
        "Who maintains the billing service?",
        (
            M("And the search service?", "search service|maintains", "billing"),
            M("Where is its runbook?", "search service|runbook"),
        ),
    ),
    (
        "How often are backups tested?",
        (M("Who does that?", "backups|tested"), M("What is the dress code for client visits?")),
    ),
    (
        "What is the data retention period in production?",
        (
            M("And in staging?", "staging|retention", "production"),
            M("Is that the same for logs?", "retention|logs"),
        ),
    ),
)


def is_understood(message: Message, whole: str) -> bool:
    """Tell whether a whole question is what the message means."""
    if message.is_whole:
        return whole == message.text
    bare = whole.casefold().replace(" ", "")

    def holds(word: str) -> bool:
        return word.casefold().replace(" ", "") in bare

    kept = filter(None, message.kept.split("|"))
    return all(map(holds, kept)) and not any(map(holds, filter(None, message.gone.split("|"))))
