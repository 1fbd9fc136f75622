"""Settings that stand in environment variables: where they go, and which variables are ours. Pure.

Names that people know have a place of their own; sections of tables may name variables besides.
"""

from collections.abc import Mapping, Set
from typing import Any

from core.errors import SettingsError

# The names people already know, and where they go.
ENVIRONMENT: Mapping[str, tuple[str, str]] = {
    "OPENAI_API_KEY": ("models", "api_key"),
    "OPENAI_BASE_URL": ("models", "base_url"),
    "DATABASE_URL": ("database", "url"),
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SMTP_HOST": ("mail", "host"),
    "SMTP_USER": ("mail", "user"),
    "SMTP_PASSWORD": ("mail", "password"),
    "ZHIXING_CHAT_MODEL": ("models", "chat_model"),
    "ZHIXING_EMBEDDER": ("embedding", "kind"),
    "ZHIXING_EMBEDDING_MODEL": ("embedding", "model"),
    "ZHIXING_RERANK_MODEL": ("rerank", "model"),
    "ZHIXING_LOG_LEVEL": ("logging", "level"),
}
# Where the token of a source is looked for that names no variable, by kind.
TOKEN_VARIABLES: Mapping[str, str] = {"notion": "NOTION_TOKEN"}
# Keys that name a variable of one's own, and the key its value goes to, by section of tables; a
# section within another is written with a dot.
NAMED_VARIABLES: Mapping[str, tuple[str, str]] = {
    "sources": ("token_variable", "token"),
    "databases": ("url_variable", "url"),
    "trackers": ("token_variable", "token"),
    "admin.viewers": ("token_variable", "token"),
}
# Read by the command line before settings exist.
COMMAND_LINE_VARIABLES = frozenset({"ZHIXING_HOME", "ZHIXING_NOW"})


def overlay_variables(values: dict[str, Any], variables: Mapping[str, str]) -> None:
    """Put what variables say into the sections as they were read from the file.

    Raises:
        SettingsError: A variable that is named is not set, or one that begins like ours is not.
    """
    for name, (section, key) in ENVIRONMENT.items():
        if variables.get(name):
            table = values.setdefault(section, {})
            if not isinstance(table, dict):
                raise SettingsError(f"[{section}] in zhixing.toml must be a table")
            table[key] = variables[name]
    _load_usual_tokens(values.get("sources"), variables)
    named = _load_named(values, variables) | _load_secrets(values.get("skills"), variables)
    _refuse_unknown_variables(variables, named)


def _load_usual_tokens(sources: object, variables: Mapping[str, str]) -> None:
    """Put tokens from the usual variables into sources that have none."""
    for table in sources.values() if isinstance(sources, dict) else ():
        if not isinstance(table, dict):
            continue
        usual = TOKEN_VARIABLES.get(str(table.get("kind")), "")
        if variables.get(usual) and not table.get("token"):
            table["token"] = variables[usual]


def _load_named(values: Mapping[str, Any], variables: Mapping[str, str]) -> set[str]:
    """Put into tables what the variables they name hold; return the variables."""
    named: set[str] = set()
    for section, (pointer, key) in NAMED_VARIABLES.items():
        tables: Any = values
        for part in section.split("."):
            tables = tables.get(part) if isinstance(tables, dict) else None
        for name, table in tables.items() if isinstance(tables, dict) else ():
            variable = table.get(pointer) if isinstance(table, dict) else None
            if not variable:
                continue
            if not variables.get(variable):
                raise SettingsError(
                    f"{section}.{name}.{pointer} names {variable!r}, which is not set; set it to "
                    f"the {key}"
                )
            table[key] = variables[variable]
            named.add(variable)
    return named


def _load_secrets(skills: object, variables: Mapping[str, str]) -> set[str]:
    """Put the variables that skills may use into their section; return them."""
    wanted = skills.get("secret_variables") if isinstance(skills, dict) else None
    if not isinstance(skills, dict) or not isinstance(wanted, list):
        return set()
    secrets = skills.setdefault("secrets", {})
    for variable in wanted:
        if not variables.get(str(variable)):
            raise SettingsError(
                f"skills.secret_variables names {variable!r}, which is not set; set it or take it "
                "out"
            )
        if isinstance(secrets, dict):
            secrets[str(variable)] = variables[str(variable)]
    return {str(one) for one in wanted}


def _refuse_unknown_variables(variables: Mapping[str, str], named: Set[str]) -> None:
    known = set(ENVIRONMENT) | COMMAND_LINE_VARIABLES | named
    unknown = sorted(n for n in variables if n.startswith("ZHIXING_") and n not in known)
    if unknown:
        ours = ", ".join(sorted(n for n in known if n.startswith("ZHIXING_")))
        raise SettingsError(f"unknown environment variable {unknown[0]!r}; known are {ours}")
