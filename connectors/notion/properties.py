"""Values of properties to text, every type. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from connectors.notion.ids import normalise_id
from connectors.notion.payloads import DateValue, RichText
from connectors.notion.rich_text import References, write_date, write_rich_text

Value = Mapping[str, Any]

_CURRENCIES = {
    "dollar": "USD", "canadian_dollar": "CAD", "singapore_dollar": "SGD", "euro": "EUR",
    "pound": "GBP", "yen": "JPY", "ruble": "RUB", "rupee": "INR", "won": "KRW", "yuan": "CNY",
    "real": "BRL", "lira": "TRY", "rupiah": "IDR", "franc": "CHF", "hong_kong_dollar": "HKD",
    "new_zealand_dollar": "NZD", "krona": "SEK", "norwegian_krone": "NOK", "mexican_peso": "MXN",
    "rand": "ZAR", "new_taiwan_dollar": "TWD", "danish_krone": "DKK", "zloty": "PLN",
    "baht": "THB", "forint": "HUF", "koruna": "CZK", "shekel": "ILS", "chilean_peso": "CLP",
    "philippine_peso": "PHP", "dirham": "AED", "colombian_peso": "COP", "riyal": "SAR",
    "ringgit": "MYR", "leu": "RON", "argentine_peso": "ARS", "uruguayan_peso": "UYU",
    "australian_dollar": "AUD", "peruvian_sol": "PEN",
}  # fmt: skip


def write_property(value: Value, references: References, *, number_format: str = "") -> str:
    """Return a property's value on one line or several; empty when it has none.

    Args:
        value: As the API gives it, with `type` and a key of that name.
        references: Names of people and pages.
        number_format: The format the column gives its numbers, such as `yuan` or `percent`.
    """
    kind = str(value.get("type", ""))
    inner = value.get(kind)
    if kind == "number":
        return _write_number(inner, number_format)
    writer = _WRITERS.get(kind)
    return writer(inner, references) if writer is not None and inner is not None else ""


def find_number_format(column: object) -> str:
    """Return the number format of a column of a data source; empty for other columns."""
    number = column.get("number") if isinstance(column, Mapping) else None
    return str(number.get("format") or "") if isinstance(number, Mapping) else ""


def find_relations(value: Value) -> list[str]:
    """Return the ids of the pages a property points to."""
    inner = value.get("relation")
    return [one for one in (normalise_id(_get(each, "id")) for each in _list(inner)) if one]


def needs_more(value: Value) -> bool:
    """Tell whether a value is cut: Notion gives 25 references of a page's property at most."""
    inner = value.get(str(value.get("type")))
    is_full = isinstance(inner, list) and len(inner) >= _REFERENCES_SHOWN
    return bool(value.get("has_more")) or is_full


_REFERENCES_SHOWN = 25


def merge_items(value: Value, items: Sequence[Value]) -> dict[str, Any]:
    """Return a value with all items of its own listing in place of the first 25."""
    kind = str(value.get("type", ""))
    # A rollup's listing gives the items of what it rolls up; its own summary stands.
    if kind == "rollup":
        return dict(value)
    return {**value, kind: [one[kind] for one in items if kind in one], "has_more": False}


def _write_texts(inner: object, references: References) -> str:
    spans = [RichText.model_validate(one) for one in _list(inner)]
    return write_rich_text(spans, references).strip()


def _write_number(inner: object, number_format: str) -> str:
    if isinstance(inner, bool) or not isinstance(inner, int | float):
        return ""
    if number_format == "percent":
        return f"{_plain(inner * 100)}%"
    currency = _CURRENCIES.get(number_format, "")
    return f"{currency} {_plain(inner)}".strip()


def _plain(number: float) -> str:
    if isinstance(number, int):
        return str(number)
    rounded = round(number, 10)
    return str(int(rounded)) if rounded.is_integer() else repr(rounded)


def _write_name(inner: object, _references: References) -> str:
    return _get(inner, "name")


def _write_names(inner: object, _references: References) -> str:
    return ", ".join(filter(None, (_get(one, "name") for one in _list(inner))))


def _write_person(inner: object, references: References) -> str:
    user_id = normalise_id(_get(inner, "id"))
    name = _get(inner, "name")
    return references.name_person(user_id, name) if user_id or name else ""


def _write_people(inner: object, references: References) -> str:
    return ", ".join(filter(None, (_write_person(one, references) for one in _list(inner))))


def _write_date(inner: object, _references: References) -> str:
    return write_date(DateValue.model_validate(inner)) if isinstance(inner, Mapping) else ""


def _write_moment(inner: object, _references: References) -> str:
    text = str(inner).removesuffix(".000Z").removesuffix("Z")
    return write_date(DateValue(start=text))


def _write_check(inner: object, _references: References) -> str:
    return "Yes" if inner else "No"


def _write_plain(inner: object, _references: References) -> str:
    return str(inner).strip()


def _write_formula(inner: object, references: References) -> str:
    if not isinstance(inner, Mapping):
        return ""
    match str(inner.get("type", "")):
        case "boolean":
            return (
                "" if inner.get("boolean") is None else _write_check(inner["boolean"], references)
            )
        case "string":
            return str(inner.get("string") or "")
        case _:
            return write_property(inner, references)


def _write_relation(inner: object, references: References) -> str:
    return ", ".join(references.name(one) for one in find_relations({"relation": inner}))


def _write_rollup(inner: object, references: References) -> str:
    if not isinstance(inner, Mapping):
        return ""
    if inner.get("type") != "array":
        return write_property(inner, references)
    values = (write_property(one, references) for one in _list(inner.get("array")))
    return ", ".join(dict.fromkeys(filter(None, values)))


def _write_unique_id(inner: object, _references: References) -> str:
    number = inner.get("number") if isinstance(inner, Mapping) else None
    if number is None:
        return ""
    prefix = _get(inner, "prefix")
    return f"{prefix}-{number}" if prefix else str(number)


def _write_verification(inner: object, references: References) -> str:
    state = _get(inner, "state")
    if not isinstance(inner, Mapping) or state in {"", "unverified"}:
        return ""
    date = _write_date(inner.get("date"), references)
    return f"{state} ({date})" if date else state


def _write_place(inner: object, _references: References) -> str:
    parts = (_get(inner, "name"), _get(inner, "address"))
    if any(parts):
        return ", ".join(filter(None, parts))
    spot = (_get(inner, "lat"), _get(inner, "lon"))
    return ", ".join(filter(None, spot))


def _get(value: object, key: str) -> str:
    found = value.get(key) if isinstance(value, Mapping) else None
    return "" if found is None else str(found)


def _list(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else []


_WRITERS: Mapping[str, Callable[[object, References], str]] = {
    "title": _write_texts,
    "rich_text": _write_texts,
    "select": _write_name,
    "status": _write_name,
    "multi_select": _write_names,
    "files": _write_names,
    "people": _write_people,
    "created_by": _write_person,
    "last_edited_by": _write_person,
    "date": _write_date,
    "created_time": _write_moment,
    "last_edited_time": _write_moment,
    "checkbox": _write_check,
    "url": _write_plain,
    "email": _write_plain,
    "phone_number": _write_plain,
    "string": _write_plain,
    "formula": _write_formula,
    "relation": _write_relation,
    "rollup": _write_rollup,
    "unique_id": _write_unique_id,
    "verification": _write_verification,
    "place": _write_place,
    "location": _write_place,
}
