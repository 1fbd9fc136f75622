"""Plain pages to look at the workspace and change it, in Chinese and English."""

import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from aiohttp import web
from jinja2 import Environment

from playground.notion.editor import Editor
from playground.notion.workspace import Json, Workspace
from playground.plain_style import HEAD, STYLE

_PAGES = Environment(autoescape=True).from_string(
    """{% macro form(path) %}<form class="row" method="post" action="{{ path }}">
<input type="hidden" name="key" value="{{ key }}">{%- endmacro -%}
<!doctype html><html lang="zh">{{ head|safe }}<title>{{ title }}</title>
<style>{{ style }}</style>
<p><a href="/">工作区 Workspace</a></p><h1>{{ title }}</h1>
{% if page %}
<p><small>{{ page.id }} · 修改时间 edited {{ page.last_edited_time }}</small>
{% if page.in_trash %}<strong class="t">在回收站 In the trash</strong>{% endif %}</p>
{{ form('/page/' ~ page.id ~ '/title') }}
<input name="text" value="{{ title }}"> <button>改标题 Rename</button></form>
{{ form('/page/' ~ page.id ~ '/' ~ ('restore' if page.in_trash else 'trash')) }}
<button>{{ '恢复 Restore' if page.in_trash else '移到回收站 Trash' }}</button></form>
{% for block, text, depth in blocks %}
<div class="b" style="margin-left:{{ depth }}em"><small>{{ block.type }}</small><br>
{% if text is none %}—{% else %}
{{ form('/block/' ~ block.id) }}
<input type="hidden" name="page" value="{{ page.id }}">
<textarea name="text" rows="2">{{ text }}</textarea><button>保存 Save</button></form>
{% endif %}</div>{% endfor %}
{{ form('/page/' ~ page.id ~ '/block') }}
<textarea name="text" rows="2"></textarea><button>添加一段 Add a paragraph</button></form>
<h2>子页面 Pages below</h2>
{{ form('/page/' ~ page.id ~ '/page') }}
<input name="text" required> <button>新建页面 New page</button></form>
{% endif %}
<ul>{% for one, name in links %}<li><a href="/page/{{ one.id }}">{{ name }}</a>
{% if one.in_trash %}<span class="t">回收站 trash</span>{% endif %}</li>{% endfor %}</ul></html>"""
)
_MAX_DEPTH = 20
_PATHS = ("/page/", "/block/")


def is_page(path: str) -> bool:
    """Tell whether a path belongs to these pages, not to the API."""
    return path == "/" or path.startswith(_PATHS)


class WorkspacePages:
    """Shows and edits; every form carries a key, so that no other site can post one."""

    def __init__(self, workspace: Workspace, editor: Editor) -> None:
        self._workspace = workspace
        self._editor = editor
        self._key = secrets.token_urlsafe(16)

    def register(self, app: web.Application) -> None:
        """Add the routes."""
        app.router.add_get("/", self._show_all)
        app.router.add_get("/page/{id}", self._show_page)
        app.router.add_post("/page/{id}/{action}", self._change_page)
        app.router.add_post("/block/{id}", self._change_block)

    async def _show_all(self, _request: web.Request) -> web.Response:
        pages = [one for one in self._workspace.objects.values() if one["object"] == "page"]
        tops = [one for one in pages if one["parent"]["type"] == "workspace"]
        rows = [one for one in pages if one["parent"]["type"] == "data_source_id"]
        return self._render("工作区 Workspace", links=[*tops, *rows])

    async def _show_page(self, request: web.Request) -> web.Response:
        page = self._find_page(request)
        below = [
            one
            for one in self._workspace.objects.values()
            if one["object"] == "page" and self._workspace.parent_of(one["id"]) == page["id"]
        ]
        return self._render(
            title_of(page), page=page, blocks=self._list_blocks(page["id"], 0), links=below
        )

    async def _change_page(self, request: web.Request) -> web.Response:
        page = self._find_page(request)
        text = await self._read_form(request)
        match request.match_info["action"]:
            case "title":
                self._editor.rename_page(page["id"], text)
            case "trash":
                self._editor.trash_page(page["id"])
            case "restore":
                self._editor.restore_page(page["id"])
            case "block":
                self._editor.add_text(page["id"], text)
            case "page":
                self._editor.add_page(text, page["id"])
            case _:
                raise web.HTTPNotFound
        raise web.HTTPSeeOther(f"/page/{quote(page['id'])}")

    async def _change_block(self, request: web.Request) -> web.Response:
        text = await self._read_form(request)
        block_id = request.match_info["id"]
        if self._workspace.find_block(block_id) is None:
            raise web.HTTPNotFound
        self._editor.edit_text(block_id, text)
        raise web.HTTPSeeOther(f"/page/{quote(self._workspace.page_of(block_id) or '')}")

    async def _read_form(self, request: web.Request) -> str:
        form = await request.post()
        if not secrets.compare_digest(str(form.get("key", "")), self._key):
            raise web.HTTPForbidden
        return str(form.get("text", "")).replace("\r\n", "\n")

    def _find_page(self, request: web.Request) -> Json:
        page = self._workspace.objects.get(request.match_info["id"])
        if page is None or page["object"] != "page":
            raise web.HTTPNotFound
        return page

    def _list_blocks(self, owner: str, depth: int) -> list[tuple[Json, str | None, int]]:
        found: list[tuple[Json, str | None, int]] = []
        for block in self._workspace.blocks.get(owner, []) if depth < _MAX_DEPTH else []:
            if block["id"] in self._workspace.objects:
                continue
            body = block.get(block["type"], {})
            spans = body.get("rich_text") if isinstance(body, dict) else None
            text = None if spans is None else "".join(one["plain_text"] for one in spans)
            found.append((block, text, depth))
            found += self._list_blocks(block["id"], depth + 1)
        return found

    def _render(self, title: str, *, links: Sequence[Json], **values: Any) -> web.Response:  # noqa: ANN401 - of a template
        named = [(one, title_of(one)) for one in links]
        html = _PAGES.render(
            title=title, style=STYLE, head=HEAD, key=self._key, links=named, **values
        )
        return web.Response(text=html, content_type="text/html")


def title_of(page: Json) -> str:
    """Return a page's title, or what stands for none."""
    for value in page["properties"].values():
        if value["type"] == "title":
            return "".join(one["plain_text"] for one in value["title"]) or "无标题 Untitled"
    return "无标题 Untitled"
