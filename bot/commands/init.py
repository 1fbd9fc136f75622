"""`zhixing init`: a commented settings file to start from."""

from pathlib import Path

import typer

from bot.commands.context import get_context
from bot.commands.output import print_result
from core.errors import SettingsError
from core.settings import SETTINGS_FILE

TEMPLATE = """\
# Settings of Zhixing. Every key has a default; docs/settings.md explains them all.

# A folder of files. `zhixing sync FOLDER` adds one by itself.
# [sources.handbook]
# path = "/srv/handbook"
# exclude = ["drafts/**"]

# Confluence, Cloud or Data Center (docs/confluence.md); the token stands in the environment.
# [sources.wiki]
# kind = "confluence"
# url = "https://acme.atlassian.net/wiki"    # Data Center: its address, and flavour = "data_center"
# email = "zhixing@acme.example"             # Cloud: whose API token it is
# token_variable = "WIKI_TOKEN"
# spaces = ["HR", "OPS"]                     # empty: every global space the account can see

# Notion (docs/notion.md); its API knows no rights, so a file of yours says who may read what.
# [sources.notes]
# kind = "notion"
# token_variable = "NOTION_TOKEN"
# access_file = "/srv/zhixing/notion_access.json"

# Several sources searched together, as @people.
# [bases.people]
# include = ["handbook", "notes"]

# Written answers by any OpenAI-compatible server; OPENAI_BASE_URL and OPENAI_API_KEY work too.
# [models]
# base_url = "http://127.0.0.1:8000/v1"
# chat_model = "qwen3-8b"
# private = true                # false = personal data is masked before text leaves

# What skill files in the folder `skills` may use (docs/skills.md).
# [databases.erp]
# url_variable = "ERP_URL"                   # any address of SQLAlchemy's; it is only read
# [skills]
# hosts = ["stock.company.example"]
# secret_variables = ["STOCK_TOKEN"]
# [trackers.desk]
# url = "https://acme.atlassian.net"
# user = "zhixing@acme.example"
# token_variable = "JIRA_TOKEN"

# Traces in the browser (docs/admin.md); `zhixing admin` makes a token for it.
# [admin]
# port = 8765
# hosts = ["zhixing.acme.example"]           # names it may be asked for by, besides localhost
# break_glass = false                        # true = operators may open what others asked

# The company's own words: one group of equal terms a line, separated by commas.
# [analysis]
# synonyms = ["jargon.txt"]
"""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def init(context: typer.Context) -> None:
        """Create the home folder with a commented zhixing.toml."""
        path = write_template(get_context(context).home)
        print_result(f"wrote {path}; next: zhixing sync FOLDER")


def write_template(home: Path) -> Path:
    """Write the settings file.

    Raises:
        SettingsError: There is one already.
    """
    path = home / SETTINGS_FILE
    home.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(TEMPLATE)
    except FileExistsError as error:
        raise SettingsError(f"{str(path)!r} exists already; edit it") from error
    return path
