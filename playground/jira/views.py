"""A board of all tickets that keeps itself up to date, and a page for each."""

from aiohttp import web
from jinja2 import Environment

from playground.jira.board import STATUSES, Board
from playground.plain_style import HEAD, STYLE

_REFRESH_S = 2
_STYLE = (
    f"{STYLE}.board{{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem}}"
    ".card{border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem;margin:.6rem 0}"
    ".card a{font-weight:600;text-decoration:none}"
)
_NAMES = {"To Do": "待办 To do", "In Progress": "处理中 In progress", "Done": "完成 Done"}
_PAGES = Environment(autoescape=True).from_string(
    """<!doctype html><html lang="zh">{{ head|safe }}
{% if refresh_s %}<meta http-equiv="refresh" content="{{ refresh_s }}">{% endif %}
<title>{{ title }}</title><style>{{ style|safe }}</style>
{% if issue %}<p><a href="/board">← 看板 Board</a></p>{% endif %}
<h1>{{ title }}</h1>
{% if issue %}
<p class="faint">{{ issue.issue_type }} · {{ issue.priority }} · {{ names[issue.status] }} ·
{{ issue.created.strftime('%Y-%m-%d %H:%M') }} UTC · {{ issue.labels|join(', ') }}</p>
<pre>{{ issue.description }}</pre>
<form method="post" class="row">
{% for status in statuses %}{% if status != issue.status %}
<button name="status" value="{{ status }}">→ {{ names[status] }}</button>
{% endif %}{% endfor %}</form>
<h2>评论 Comments ({{ issue.comments|length }})</h2>
{% for one in issue.comments %}<div class="b"><small>{{ one.author }} ·
{{ one.created.strftime('%Y-%m-%d %H:%M') }}</small><pre>{{ one.body }}</pre></div>{% endfor %}
{% else %}
<p class="faint">{% for one in projects %}{{ one.name }} ({{ one.key }}){{ ' · ' if not loop.last }}
{% endfor %}</p>
<div class="board">{% for status in statuses %}<section><h2>{{ names[status] }}</h2>
{% for one in issues if one.status == status %}
<div class="card"><a href="/browse/{{ one.key }}">{{ one.key }}</a> {{ one.summary }}
<div class="faint"><small>{{ one.priority }} · {{ one.issue_type }}
{% if one.comments %}· {{ one.comments|length }} 💬{% endif %}</small></div></div>
{% else %}<p class="faint">—</p>{% endfor %}</section>{% endfor %}</div>
{% endif %}"""
)


class Views:
    """Serves the pages."""

    def __init__(self, board: Board) -> None:
        self._board = board

    def register(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/", self._lead)
        app.router.add_get("/board", self._show_board)
        app.router.add_get("/browse/{key}", self._show_issue)
        app.router.add_post("/browse/{key}", self._move)

    async def _lead(self, _request: web.Request) -> web.Response:
        raise web.HTTPFound("/board")

    async def _show_board(self, _request: web.Request) -> web.Response:
        issues = sorted(self._board.issues.values(), key=lambda one: one.updated, reverse=True)
        return self._render("工单 Tickets", issues=issues, refresh_s=_REFRESH_S)

    async def _show_issue(self, request: web.Request) -> web.Response:
        issue = self._board.issues.get(request.match_info["key"])
        if issue is None:
            raise web.HTTPNotFound(text="没有此工单。No such ticket.")
        return self._render(f"{issue.key} {issue.summary}", issue=issue)

    async def _move(self, request: web.Request) -> web.Response:
        issue = self._board.issues.get(request.match_info["key"])
        status = str((await request.post()).get("status", ""))
        if issue is None or status not in STATUSES:
            raise web.HTTPBadRequest(text="no such ticket or column")
        self._board.move(issue, status)
        raise web.HTTPSeeOther(f"/browse/{issue.key}")

    def _render(self, title: str, **values: object) -> web.Response:
        text = _PAGES.render(
            title=title,
            head=HEAD,
            style=_STYLE,
            statuses=STATUSES,
            names=_NAMES,
            projects=list(self._board.projects.values()),
            **values,
        )
        return web.Response(text=text, content_type="text/html")
