"""How questions ask, in Chinese and English: the wordings behind `question_type`."""

import re

# By answer type, the most telling types first.
TYPES: dict[str, str] = {
    "command": (r"命令|什么指令|怎么敲|脚本怎么|\bcommands?\b|\bwhat do i (?:type|run)\b|\bcli\b"),
    "code": (
        r"错误码|代码是|编号|单号|证书号|哪个码|科目|版本号|\bwhich code\b|\bwhat code\b"
        r"|\berror code\b|\bid of\b|\bwhich (?:queue|label|branch|port|address|account)\b"
    ),
    "money": (
        r"多少钱|价格|售价|标价|费用是|花多少|报多少|补贴多少|奖金"
        r"|\bhow much (?:does|do|did|is|are|was|will|money|can i (?:spend|blow|claim))\b"
        r"|\bprice\b|\bcosts?\b|\bsalary\b|\bfee\b"
    ),
    "percent": (
        r"百分之[几多]|百分比|占比|比例|几成|折扣|利率|\bpercent(?:age)?\b|\bshare of\b"
        r"|\brate\b"
    ),
    "duration": (
        r"多久|多长时间|几(?:天|日|年|周|个?月|分钟|小时|个?工作日|秒|星期|个小时)"
        r"|多少(?:天|日|年|周|个?月|分钟|小时|个?工作日|秒|星期|个小时)|时长|期限|有效期"
        r"|\bhow long\b|\bhow soon\b"
        r"|\bhow (?:many|much) (?:working |business |calendar )?"
        r"(?:days?|hours?|weeks?|months?|years?|minutes?|seconds?|time|notice)\b"
        r"|\bhow early\b|\bhow (?:late|often)\b"
    ),
    "time": (r"几点|什么时间|\bwhat time\b|\bo'clock\b"),
    "date": (
        r"什么时候|何时|哪[一]?[天日年月]|几[月号]|日期|哪个?(?:年|月)|到期|截止|\bwhen\b"
        r"|\bwhat (?:date|day|year|month)\b|\bwhich (?:date|day|year|month)\b|\bdeadline\b"
        r"|\bsince\b|\bby when\b"
    ),
    "person": (r"谁|哪位|哪个人|何人|负责人|联系人|审批人|\bwho\b|\bwhom\b|\bwhose\b|\bowner\b"),
    "place": (
        r"哪里|哪儿|何处|在哪|什么地方|哪个?(?:国家|城市|省|地区|地方|会议室|楼)|\bwhere\b"
        r"|\b(?:which|what) (?:country|city|state|place|room|region|office|building|county)\b"
    ),
    "number": (
        r"多少|几[个人次台条项页份位名种级分家所届倍张]|多[高大重宽深远]|数量|上限|下限"
        r"|\bhow many\b|\bhow much\b|\bhow (?:big|large|high|tall|far|deep|fast)\b"
        r"|\bnumber of\b|\bmaximum\b|\bminimum\b|\blimit\b"
    ),
    "how_to": (
        r"怎么(?!样的|回事)|如何|怎样|步骤|流程|操作方法|按什么顺序"
        r"|\bhow (?:do|can|should|would|to|is .{2,40} done)\b|\bhow does one\b|\bsteps?\b"
        r"|\bprocedure\b|\bprocess (?:for|to)\b|\bwhat do (?:i|we) do\b|\binstructions?\b"
    ),
    "reason": (r"为什么|为何|原因|怎么回事|\bwhy\b|\breasons?\b|\bcauses?\b"),
    "list": (
        r"哪些|哪几|有什么|分别|列出|都有|包括什么|几种|\bwhich of\b|\bwhat are\b|\blist\b"
        r"|\bname (?:all|the)\b|\bwhat (?:kinds?|types?|sorts?)\b"
        r"|\bwhich (?:\w+ ){0,2}\w+s are\b"
    ),
    "definition": (
        r"什么是|是什么|什么意思|是指|含义|定义|指的是|\bwhat(?:'s| is| does .{1,60} mean)\b"
        r"|\bdefin(?:e|ition)\b|\bmeaning\b|\bstand for\b"
    ),
    "yes_no": (
        r"吗[？?。!！\s]*$|是否|是不是|能不能|可不可以|有没有|要不要|会不会|还行不|来得及不"
        r"|^\s*(?:is|are|am|do|does|did|can|could|should|may|will|would|has|have|had|was|were)\b"
    ),
}
HISTORY: dict[str, str] = {
    "all_states": (
        r"历次|历史上|历来|历年|变更记录|改过几次|每次调整|怎么变(?:化)?的|\bearlier values\b"
        r"|\ball (?:earlier|previous|former) \w+|(?:change|version|revision) history\b"
        r"|\bhistory of (?:the )?(?:changes|values|versions)\b|\balways been\b|\bover time\b"
        r"|\beach version\b"
    ),
    "change_time": (
        r"(?:什么时候|何时|哪天|哪个版本|哪一版).{0,14}"
        r"(?:改[的了成为名]|变[的了成为]|调整|更新|涨|降|上调|下调|提高|取消)"
        r"|(?:改名|改的|调整|更新|上调|下调).{0,6}(?:什么时候|何时|哪天)"
        r"|\bwhen (?:was|were|did|has|have)\b.{1,80}\b(?:change[ds]?|raised?|lowered|reduced"
        r"|increased?|renamed|updated?|replaced|introduced|removed|revised|adjusted|extended)\b"
        r"|\bsince when\b"
    ),
    "previous": (
        r"以前(?!的?版)|之前(?:是|叫|的(?:值|标准|规定|版本|价格|上限|名))|原来(?:是|叫|的)"
        r"|原先|上一版|上个版本|旧版|改之前|调整前|过去(?:是|叫)|曾经(?:是|叫)"
        r"|\bbefore (?:it was|that|the change)\b|\b(?:was|were) (?:it|they) before\b"
        r"|\bwhat was .{1,80}\bbefore\b|\bused to\b"
        r"|\b(?:was|were|did|had)\b.{1,100}\bbefore\s*[?.!]?\s*$"
        r"|\b(?:previous|former|old|earlier) (?:value|limit|version|price|name|rate|policy|target"
        r"|rule|amount|number|threshold|address|owner)\b"
        r"|\bpreviously\b|\bformerly\b"
    ),
}
COMPARES = re.compile(
    r"比较|对比|相比|区别|差异|不同|差别|更(?:早|晚|高|低|多|少|大|小|长|短|快|慢|好|贵|便宜)|\bcompar\w*|\bdifferen\w+"
    r"|\bversus\b|\bvs\.?\b"
    r"|\b(?:which|who) .{1,80}\b(?:more|less|higher|lower|larger|smaller|earlier|later|longer)\b"
    r"|\bboth\b|\bor\b.{1,60}\?|还是.{1,30}[？?]",
    re.IGNORECASE,
)
MANY = re.compile(
    r"哪些|哪几|分别|所有|全部|各(?:个|级|类|自)?|都(?:有|是)|列出|每[个种类级]|\ball\b"
    r"|\beach\b|\bwhich of\b|\blist\b|\bwhat are\b|\bevery\b",
    re.IGNORECASE,
)
AS_OF = re.compile(
    r"\bas of\b|\bas at\b|\bback (?:in|on)\b|截至|截止到|当时|那时候?|(?:年|月|日|号)那会儿?",
    re.IGNORECASE,
)
# A past tense around a date: the state of then, unless it is a matter of record.
IN_THE_PAST = re.compile(
    r"\b(?:was|were|did|had)\b.{1,120}\b(?:in|on|during|until|last|ago|yesterday|end of)\b"
    r"|\b(?:in|on|during|until|last|ago|yesterday|end of)\b.{1,60}\b(?:was|were|did|had)\b"
    r"|去年|前年|昨天|上个?(?:月|季度|周|星期)|(?:天|周|星期|月|年)(?:之|以)?前"
    r"|(?:年|月|日|号)(?:底|末|初)?(?:的时候|时(?![间长段期点常]))",
    re.IGNORECASE,
)
AND_BEFORE = re.compile(
    r"以前呢|之前呢|原来呢|\bwhat was it before\b|\band before\b",
    re.IGNORECASE,
)
# Words that place a question in time and name nothing a page could say today.
HISTORY_WORDS = re.compile(
    r"以前|之前|原来|原先|此前|历次|历来|历史上|上一版|上个版本|旧版|当时|那时|截至|截止"
    r"|(?:什么时候|何时|哪天)(?=.{0,14}[改变调])|改[的了成为]|变[的了成为]|调整(?:过|的|为)"
    r"|\b(?:before|previous(?:ly)?|former(?:ly)?|earlier|used to be|always been|list all|as of"
    r"|has been|was|were|change[ds]?|raised|lowered|values?)\b",
    re.IGNORECASE,
)
# One thing to be done, and another.
COMPOUND = re.compile(
    r"\band (?:then |also )?[a-z]{3,} |并且?|以及|然后|还要|之后再", re.IGNORECASE
)
