"""Words for generated pages: frequent ones from short lists, rare ones made of the same pieces.

Rare Chinese words are pairs of characters that the segmenter knows as words, and joined pairs of
those; anything else would fall apart into single characters that occur everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import rjieba
from numpy.typing import NDArray

Language = Literal["zh", "en"]

VOCABULARY_SIZE = 20_000
# Mandelbrot's form of Zipf's law; exponent near 1 and a small shift fit running text.
EXPONENT = 1.07
SHIFT = 2.7
SYLLABLES_A_RARE_WORD = (2, 4)

_ENGLISH = (
    "the of to and a in for is on that by with as be are this from at or an if it not can must "
    "has when will after each which before all any into only one more two server service "
    "request team page access account report review change release system data user file "
    "update backup storage disk network cluster node service queue job log alert limit policy "
    "manager employee customer contract invoice payment travel expense approval budget "
    "security password token key role group office holiday leave training meeting project plan "
    "owner deadline version database table index query cache memory latency traffic region "
    "deploy rollback monitor incident ticket support email message channel document template "
    "form field value error warning check start stop restart read write delete create open "
    "close send receive configure install upgrade migrate restore verify schedule assign "
    "approve reject escalate notify record measure compare export import archive"
)
_CHINESE = (
    "的 在 和 是 对 为 与 由 将 按 从 或 需要 可以 必须 应当 如果 然后 之后 之前 以及 进行 "
    "通过 使用 系统 服务 数据 用户 文件 更新 备份 存储 磁盘 网络 集群 节点 队列 任务 日志 告警 "
    "限制 制度 经理 员工 客户 合同 发票 付款 差旅 报销 审批 预算 安全 密码 令牌 角色 部门 办公 "
    "假期 请假 培训 会议 项目 计划 负责人 期限 版本 数据库 表格 索引 查询 缓存 内存 延迟 流量 "
    "区域 部署 回滚 监控 故障 工单 支持 邮件 消息 频道 文档 模板 表单 字段 数值 错误 警告 检查 "
    "启动 停止 重启 读取 写入 删除 创建 打开 关闭 发送 接收 配置 安装 升级 迁移 恢复 验证 排期 "
    "分配 批准 拒绝 升级处理 通知 记录 测量 比较 导出 导入 归档 流程 步骤 说明 要求 范围 标准"
)
_SYLLABLES = (
    "ba be bi bo ca ce co da de di do fa fe fi ga go ha he ka ke ki la le li lo ma me mi mo na ne "
    "ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi zan ter lor min dex"
)
# Characters of everyday words.
_CHARACTERS = (
    "工作时间公司技术管理资源平台环境设备测试产品质量业务市场财务人事法务运营采购物流生产研发设计"
    "需求方案模块接口参数规则条件结果状态类型等级数量金额比例日期地点电话地址名称编号单位主管副总监"
    "周期频率容量带宽温度电源机房楼层门禁车辆仓库供应合作伙伴渠道品牌推广活动奖励绩效考核面试入职"
    "离岗转正调薪福利保险体检食堂班车快递印章档案保密协议风险审计合规投诉反馈满意度调查统计分析预测"
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words by falling frequency, and how often each occurs."""

    words: tuple[str, ...]
    cumulated: NDArray[np.float64]

    def draw(self, random: np.random.Generator, count: int) -> list[str]:
        """Return words drawn by their frequency."""
        places = np.searchsorted(self.cumulated, random.random(count), side="right")
        return [self.words[place] for place in places]


@cache
def build_vocabulary(language: Language) -> Vocabulary:
    """Return the words of a language; the same at every call and in every process."""
    words = _build_english() if language == "en" else _build_chinese()
    ranks = np.arange(1, len(words) + 1, dtype=np.float64)
    weights = 1.0 / (ranks + SHIFT) ** EXPONENT
    cumulated = np.cumsum(weights / weights.sum())
    cumulated[-1] = 1.0
    return Vocabulary(words, cumulated)


def _build_english() -> tuple[str, ...]:
    return _fill_up(
        _ENGLISH.split(), np.random.default_rng(1), _SYLLABLES.split(), SYLLABLES_A_RARE_WORD
    )


def _build_chinese() -> tuple[str, ...]:
    random = np.random.default_rng(2)
    segmenter = rjieba.Jieba()
    characters = sorted(set(_CHARACTERS + _CHINESE) - {" "})
    pairs = [first + second for first in characters for second in characters]
    known = [pair for pair in pairs if segmenter.has_word(pair)]
    random.shuffle(known)
    return _fill_up([*_CHINESE.split(), *known], random, known, (2, 2))


def _fill_up(
    frequent: Sequence[str],
    random: np.random.Generator,
    pieces: Sequence[str],
    sizes: tuple[int, int],
) -> tuple[str, ...]:
    """Add words of a random number of pieces until there are VOCABULARY_SIZE."""
    words = dict.fromkeys(frequent)
    while len(words) < VOCABULARY_SIZE:
        size = int(random.integers(*sizes, endpoint=True))
        places = random.integers(len(pieces), size=size)
        words["".join(pieces[place] for place in places)] = None
    return tuple(words)
