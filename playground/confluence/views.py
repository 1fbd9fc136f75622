"""Plain pages to look at the wiki, and edit it, as a person of one's choice."""

from collections.abc import Iterable
from html import escape

from aiohttp import web

from connectors.confluence.storage import convert_storage
from playground.confluence.cloud_routes import Route
from playground.confluence.editor import WikiEditor
from playground.confluence.wiki import Wiki, WikiPage
from playground.plain_style import HEAD, STYLE

_STATUSES = ("current", "archived", "trashed")


class Views:
    """Serves the pages below `/ui`."""

    def __init__(self, wiki: Wiki, prefix: str) -> None:
        self._wiki = wiki
        self._editor = WikiEditor(wiki)
        self._base = f"{prefix}/ui"

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            ("GET", "/ui", self._show_spaces),
            ("GET", "/ui/pages/{id}", self._show_page),
            ("POST", "/ui/pages/{id}", self._edit_page),
            ("GET", "/spaces/{space}/pages/{id}", self._follow_link),
        ]

    async def _show_spaces(self, request: web.Request) -> web.Response:
        person = request.query.get("as", "")
        people = "".join(
            f'<option value="{escape(one)}"{" selected" if one == person else ""}>{escape(one)}'
            for one in sorted(self._wiki.people)
        )
        spaces = "".join(
            f"<h2>{escape(space.name)} ({escape(space.key)})</h2>{self._list(space.key, person)}"
            for space in self._wiki.spaces.values()
        )
        form = (
            f'<form><label>以谁的身份查看 View as <select name="as"><option value="">(admin)'
            f"{people}</select></label><button>查看 Show</button></form>"
        )
        return _answer("Confluence", form + spaces)

    async def _show_page(self, request: web.Request) -> web.Response:
        page, person = self._get_page(request), request.query.get("as", "")
        if person and not self._wiki.can_read(person, page):
            return _answer(
                "404", "<p>没有此页面，或您没有权限。No such page, or no access.</p>", 404
            )
        text = convert_storage(page.current.body).pieces
        shown = "".join(
            f"<pre>{escape(piece)}</pre>"
            if isinstance(piece, str)
            else f"<p><em>include: {escape(piece.page.title or piece.page.page_id)}</em></p>"
            for piece in text
        )
        about = (
            f"<p class=faint>v{page.current.number} · {page.current.when:%Y-%m-%d %H:%M} UTC · "
            f"{escape(page.current.by)} · {escape(page.status)} · "
            f"{escape(', '.join(page.labels))}</p>"
        )
        back = f'<p><a href="{self._base}?as={escape(person)}">← {escape(page.space)}</a></p>'
        return _answer(page.title, back + about + shown + self._write_form(page))

    async def _follow_link(self, request: web.Request) -> web.Response:
        """Lead from the address that the API names to the page."""
        raise web.HTTPSeeOther(f"{self._base}/pages/{self._get_page(request).page_id}")

    async def _edit_page(self, request: web.Request) -> web.Response:
        page, form = self._get_page(request), await request.post()
        values = {name: str(value) for name, value in form.items()}
        body, title = values.get("body", page.current.body), values.get("title", page.title)
        if (body, title) != (page.current.body, page.title):
            self._editor.edit(page.page_id, body, title=title, by=values.get("by", ""))
        if "parent" in values and values["parent"] != page.parent_id:
            if values["parent"] and values["parent"] not in self._wiki.pages:
                raise web.HTTPBadRequest(text="no such parent")
            self._editor.move(page.page_id, values["parent"])
        if values.get("status") in _STATUSES:
            self._editor.set_status(page.page_id, values["status"])
        if "labels" in values:
            self._editor.set_labels(page.page_id, values["labels"].split())
        if "users" in values or "groups" in values:
            self._editor.restrict(
                page.page_id,
                users=values.get("users", "").split(),
                groups=values.get("groups", "").split(),
            )
        raise web.HTTPSeeOther(f"{self._base}/pages/{page.page_id}")

    def _list(self, space: str, person: str) -> str:
        pages = (
            one
            for one in self._wiki.pages.values()
            if one.space == space and (not person or self._wiki.can_read(person, one))
        )
        items = (
            f'<li><a href="{self._base}/pages/{escape(one.page_id)}?as={escape(person)}">'
            f"{escape(one.title)}</a> {'' if one.status == 'current' else escape(one.status)}</li>"
            for one in pages
        )
        return f"<ul>{''.join(items)}</ul>"

    def _write_form(self, page: WikiPage) -> str:
        readers = page.readers or {}
        statuses = "".join(
            f"<option{' selected' if one == page.status else ''}>{one}" for one in _STATUSES
        )
        fields = (
            _field("标题 Title", "title", page.title),
            _field("上级页面 Parent id", "parent", page.parent_id),
            _field("标签 Labels", "labels", " ".join(page.labels)),
            _field("可读用户 Readers (users)", "users", _join(readers.get("users", ()))),
            _field("可读组 Readers (groups)", "groups", _join(readers.get("groups", ()))),
            f'<label>状态 Status <select name="status">{statuses}</select></label>',
            '<label>正文 Body <textarea class="big" name="body">'
            f"{escape(page.current.body)}</textarea></label>",
        )
        heading, button = "<hr><h2>编辑 Edit</h2>", "<button>保存 Save</button>"
        return f'{heading}<form method="post">{"".join(fields)}{button}</form>'

    def _get_page(self, request: web.Request) -> WikiPage:
        page = self._wiki.pages.get(request.match_info["id"])
        if page is None:
            raise web.HTTPNotFound(text="no such page")
        return page


def _field(label: str, name: str, value: str) -> str:
    return f'<label>{label} <input name="{name}" size="60" value="{escape(value)}"></label>'


def _join(names: Iterable[str]) -> str:
    return " ".join(names)


def _answer(title: str, body: str, status: int = 200) -> web.Response:
    text = (
        f"<!doctype html><html lang=zh>{HEAD}<title>{escape(title)}</title>"
        f"<style>{STYLE}</style><h1>{escape(title)}</h1>{body}"
    )
    return web.Response(text=text, content_type="text/html", status=status)
