"""Units and currencies by every name people give them, in Chinese and English."""

import re
from decimal import Decimal

SECONDS = "second"
MONTHS = "month"
WORKING_DAYS = "working day"
WORKING_HOURS = "working hour"
DURATION_UNITS = frozenset({SECONDS, MONTHS, WORKING_DAYS, WORKING_HOURS})
PERCENT = "%"

# Canonical unit and how many of it one named unit makes.
_NAMES: dict[tuple[str, str], str] = {
    (SECONDS, "0.001"): "毫秒 milliseconds millisecond ms",
    (SECONDS, "1"): "秒钟 秒 seconds second secs sec s",
    (SECONDS, "60"): "分钟 minutes minute mins min",
    (SECONDS, "3600"): "个小时 小时 个钟头 钟头 hours hour hrs hr h",
    (SECONDS, "86400"): "个自然日 自然日 个日历日 日历日 calendar_days calendar_day 天 days day",
    (SECONDS, "604800"): "个星期 星期 个礼拜 礼拜 周 weeks week",
    (WORKING_HOURS, "1"): (
        "个工作小时 工作小时 个工时 working_hours working_hour business_hours business_hour"
    ),
    (WORKING_DAYS, "1"): (
        "个工作日 工作日 个交易日 working_days working_day business_days business_day workdays"
        " workday"
    ),
    (MONTHS, "1"): "个月 months month",
    (MONTHS, "3"): "个季度 季度 quarters quarter",
    (MONTHS, "12"): "周年 年 years year yrs yr",
    (PERCENT, "1"): "% percent per_cent 个百分点 百分点 percentage_points percentage_point",
    (PERCENT, "0.1"): "‰",
    ("byte", "1"): "字节 bytes byte",
    ("byte", "1024"): "KB KiB kB",
    ("byte", "1048576"): "MB MiB",
    ("byte", "1073741824"): "GB GiB",
    ("byte", "1099511627776"): "TB TiB",
    ("metre", "0.001"): "毫米 mm",
    ("metre", "0.01"): "厘米 cm",
    ("metre", "1"): "米 metres metre meters meter",
    ("metre", "1000"): "公里 千米 km kilometres kilometers",
    ("gram", "1"): "克 g grams gram",
    ("gram", "1000"): "千克 公斤 kg kilograms kilogram",
    ("gram", "1000000"): "吨 tonnes tons",
    ("watt", "1"): "瓦 W watts watt",
    ("watt", "1000"): "千瓦 kW",
    ("volt", "1"): "伏 V volts volt",
    ("hertz", "1"): "赫兹 Hz",
    ("hertz", "1000000"): "兆赫 MHz",
    ("hertz", "1000000000"): "GHz",
    ("celsius", "1"): "摄氏度 ℃ °C",
    ("person", "1"): "个人 人 名 位 people persons person",
    ("time", "1"): "次 times",
    ("item", "1"): "个 条 项 件 台 张 份 页 家 部 款 种 篇 座 辆 只 颗 层 级 轮 期 步",
}
_CURRENCY_NAMES: dict[str, str] = {
    "CNY": "人民币 元 块钱 CNY RMB ¥ ￥ yuan",
    "USD": "美元 美金 USD US$ $ dollars dollar",
    "EUR": "欧元 EUR € euros euro",
    "GBP": "英镑 GBP £ pounds",
    "JPY": "日元 JPY yen",
    "HKD": "港元 港币 HKD HK$",
    "SGD": "新加坡元 新元 新币 SGD S$",
}


def _build_units() -> dict[str, tuple[str, Decimal]]:
    table: dict[str, tuple[str, Decimal]] = {}
    for (unit, factor), names in _NAMES.items():
        for name in names.split():
            table[name.replace("_", " ")] = (unit, Decimal(factor))
    return table


UNITS = _build_units()
CURRENCIES = {name: code for code, names in _CURRENCY_NAMES.items() for name in names.split()}


def _build_pattern(names: list[str]) -> str:
    """Build alternatives, longest first.

    A Latin name must not go on as a longer word; short ones count in their own case only (G is
    no gram).
    """
    return "|".join(_build_name_pattern(name) for name in sorted(names, key=len, reverse=True))


def _build_name_pattern(name: str) -> str:
    if not name.isascii() or not name[-1].isalpha():
        return re.escape(name)
    is_symbol = len(name) <= _LONGEST_SYMBOL
    return rf"{f'(?-i:{name})' if is_symbol else re.escape(name)}(?![A-Za-z])"


_LONGEST_SYMBOL = 3
UNIT_PATTERN = _build_pattern(list(UNITS))
CURRENCY_PATTERN = _build_pattern(list(CURRENCIES))


def find_unit(name: str) -> tuple[str, Decimal]:
    """Return the canonical unit of a name found by `UNIT_PATTERN`, and its factor."""
    return UNITS.get(name) or UNITS[name.lower()]


def find_currency(name: str) -> str:
    """Return the currency code of a name found by `CURRENCY_PATTERN`."""
    return CURRENCIES.get(name) or CURRENCIES.get(name.upper()) or CURRENCIES[name.lower()]
