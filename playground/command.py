"""`zhixing playground`: chat, wiki, notes, mail and tickets to try everything in, on loopback."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from bot.commands.context import get_context, run

CompanyOption = Annotated[
    Path | None,
    typer.Option("--company", help="A company's folder; the sample company when left out."),
]
HeadlessOption = Annotated[
    bool, typer.Option("--headless", help="Say only the addresses, as JSON, for programs.")
]
PORT_HELP = "Port of the {}; 0 = a free one."
SlackPort = Annotated[
    int, typer.Option("--port", min=0, max=65535, help=PORT_HELP.format("chat and the mailbox"))
]
WikiPort = Annotated[
    int, typer.Option("--wiki-port", min=0, max=65535, help=PORT_HELP.format("wiki"))
]
NotionPort = Annotated[
    int, typer.Option("--notion-port", min=0, max=65535, help=PORT_HELP.format("notes"))
]
MailPort = Annotated[
    int, typer.Option("--smtp-port", min=0, max=65535, help=PORT_HELP.format("mail server"))
]

JiraPort = Annotated[
    int, typer.Option("--jira-port", min=0, max=65535, help=PORT_HELP.format("ticket system"))
]
AdminPort = Annotated[
    int, typer.Option("--admin-port", min=0, max=65535, help=PORT_HELP.format("traces"))
]


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def playground(
        context: typer.Context,
        company: CompanyOption = None,
        headless: HeadlessOption = False,  # noqa: FBT002 - typer's form of a switch
        port: SlackPort = 0,
        wiki_port: WikiPort = 0,
        notion_port: NotionPort = 0,
        smtp_port: MailPort = 0,
        jira_port: JiraPort = 0,
        admin_port: AdminPort = 0,
    ) -> None:
        """Try all of it in the browser: a chat, a wiki, notes, mail and tickets."""
        # Servers and sources take long to load, and every other command starts without them.
        from playground.home import hold_home  # noqa: PLC0415
        from playground.serving import (  # noqa: PLC0415
            Ports,
            choose_clock,
            choose_home,
            play,
            prepare_home,
        )

        ours = get_context(context)
        ports = Ports(
            slack=port,
            wiki=wiki_port,
            notion=notion_port,
            mail=smtp_port,
            jira=jira_port,
            admin=admin_port,
        )
        sample_company = as_file(files("playground") / "sample_company")
        with hold_home(choose_home(ours.home)), sample_company as sample:
            folder = (company or sample).resolve()
            clock = choose_clock(ours, is_sample=company is None)
            run(play(prepare_home(ours.home, folder), clock, folder, ports, headless=headless))
