"""Objects as the APIs return them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from playground.confluence.query import Item
from playground.confluence.wiki import (
    FileVersion,
    PageVersion,
    Wiki,
    WikiComment,
    WikiFile,
    WikiPage,
    WikiPerson,
)

Json = dict[str, Any]


class Shapes:
    """Builds the objects of one flavour."""

    def __init__(self, wiki: Wiki, *, is_cloud: bool) -> None:
        self.wiki = wiki
        self.is_cloud = is_cloud

    def user(self, person_id: str) -> Json:
        """Return an account."""
        person = self.wiki.people.get(person_id)
        name = person.name if person else person_id
        account = self.wiki.account_of(person_id)
        if self.is_cloud:
            return {"type": "known", "accountId": account, "displayName": name, "email": ""}
        return {"type": "known", "username": person_id, "userKey": account, "displayName": name}

    def group(self, group_id: str) -> Json:
        """Return a group."""
        if self.is_cloud:
            return {"type": "group", "id": group_id, "name": f"name of {group_id}"}
        return {"type": "group", "name": group_id}

    def page(self, page: WikiPage, expand: Collection[str], *, number: int = 0) -> Json:
        """Return a page in v1; `number` picks an earlier version."""
        version = _pick(page, number)
        shaped: Json = {
            "id": page.page_id,
            "type": page.kind,
            "status": "historical" if number else page.status,
            "title": version.title,
            "_links": {"webui": f"/spaces/{page.space}/pages/{page.page_id}"},
            "_expandable": {},
        }
        if "version" in expand:
            shaped["version"] = self.version(version)
        if "space" in expand:
            space = self.wiki.spaces[page.space]
            shaped["space"] = {"id": int(space.space_id), "key": space.key, "name": space.name}
        if "body.storage" in expand:
            shaped["body"] = {"storage": {"value": version.body, "representation": "storage"}}
        if "ancestors" in expand:
            pages = [self.wiki.pages.get(one) for one in self.wiki.ancestors_of(page)]
            shaped["ancestors"] = [
                {"id": one.page_id, "type": "page", "title": one.title} for one in pages if one
            ]
        if "metadata.labels" in expand:
            labels = [{"prefix": "global", "name": name} for name in page.labels]
            shaped["metadata"] = {"labels": {"results": labels, "size": len(labels)}}
        if "restrictions.read.restrictions.user" in expand:
            shaped["restrictions"] = {"read": self.restriction(page)}
        return shaped

    def restriction(self, page: WikiPage | None) -> Json:
        """Return a read restriction; both lists are empty where there is none."""
        readers = (page.readers if page else None) or {}
        users = [self.user(one) for one in readers.get("users", ())]
        groups = [self.group(one) for one in readers.get("groups", ())]
        return {
            "operation": "read",
            "restrictions": {
                "user": {"results": users, "start": 0, "limit": 200, "size": len(users)},
                "group": {"results": groups, "start": 0, "limit": 200, "size": len(groups)},
            },
        }

    def version(self, version: PageVersion | FileVersion) -> Json:
        """Return a version in v1."""
        message = version.message if isinstance(version, PageVersion) else ""
        return {
            "number": version.number,
            "when": self.time(version.when),
            "by": self.user(version.by),
            "message": message,
            "minorEdit": False,
        }

    def file(self, file: WikiFile) -> Json:
        """Return an attachment in v1."""
        page = self.wiki.pages[file.page_id]
        size = len(file.current.content or b"x" * 1000)
        link = f"/download/attachments/{file.page_id}/{file.name}?version={file.current.number}"
        if self.is_cloud:
            link = f"/rest/api/content/{file.page_id}/child/attachment/{file.file_id}/download"
        return {
            "id": file.file_id,
            "type": "attachment",
            "status": "current",
            "title": file.name,
            "space": {"id": 1, "key": page.space},
            "container": {"id": file.page_id, "type": page.kind},
            "version": self.version(file.current),
            "metadata": {"mediaType": file.media_type},
            "extensions": {"mediaType": file.media_type, "fileSize": size},
            "_links": {"download": link},
        }

    def comment(self, comment: WikiComment) -> Json:
        """Return a comment in v1."""
        return {
            "id": comment.comment_id,
            "type": "comment",
            "status": "current",
            "title": "Re: page",
            "container": {"id": comment.page_id, "type": "page"},
            "version": {
                "number": comment.number,
                "when": self.time(comment.when),
                "by": self.user(comment.by),
            },
            "body": {"storage": {"value": comment.body}},
        }

    def page_v2(self, page: WikiPage, *, with_body: bool, number: int = 0) -> Json:
        """Return a page in v2."""
        version = _pick(page, number)
        shaped: Json = {
            "id": page.page_id,
            "status": page.status,
            "title": version.title,
            "spaceId": self.wiki.spaces[page.space].space_id,
            "parentId": page.parent_id or None,
            "parentType": "folder" if page.parent_id in self.wiki.folders else "page",
            "version": self.version_v2(version),
            "body": {},
        }
        if with_body:
            shaped["body"] = {"storage": {"value": version.body, "representation": "storage"}}
        return shaped

    def version_v2(self, version: PageVersion | FileVersion) -> Json:
        """Return a version in v2."""
        message = version.message if isinstance(version, PageVersion) else ""
        return {
            "number": version.number,
            "createdAt": self.time(version.when),
            "authorId": self.wiki.account_of(version.by) or None,
            "message": message,
            "minorEdit": False,
        }

    def file_v2(self, file: WikiFile) -> Json:
        """Return an attachment in v2."""
        return {
            "id": file.file_id,
            "status": "current",
            "title": file.name,
            "pageId": file.page_id,
            "mediaType": file.media_type,
            "fileSize": len(file.current.content or b"x" * 1000),
            "downloadLink": self.file(file)["_links"]["download"],
            "version": self.version_v2(file.current),
        }

    def comment_v2(self, comment: WikiComment) -> Json:
        """Return a comment in v2."""
        return {
            "id": comment.comment_id,
            "status": "current",
            "version": {
                "number": comment.number,
                "createdAt": self.time(comment.when),
                "authorId": self.wiki.account_of(comment.by) or None,
            },
            "body": {"storage": {"value": comment.body, "representation": "storage"}},
        }

    def members(self, group_id: str) -> list[Json]:
        """Return the accounts of a group."""
        found = (self.wiki.people.get(one) for one in self.wiki.groups[group_id])
        return [self.user(one.person_id) for one in found if isinstance(one, WikiPerson)]

    def time(self, moment: datetime) -> str:
        """Return a moment as the flavour writes it."""
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def build_items(wiki: Wiki, *, seen: Sequence[WikiPage]) -> list[tuple[Item, object]]:
    """Return what a search looks at: current content on pages that the account sees."""
    pages = {one.page_id: one for one in seen if one.status == "current"}
    found: list[tuple[Item, object]] = [
        (_item(page.page_id, page.kind, page, page.title, page.current.when), page)
        for page in pages.values()
    ]
    for file in wiki.files.values():
        if on := pages.get(file.page_id):
            item = _item(file.file_id, "attachment", on, file.name, file.current.when)
            found.append((item, file))
    for comment in wiki.comments.values():
        if on := pages.get(comment.page_id):
            item = _item(comment.comment_id, "comment", on, "", comment.when)
            found.append((item, comment))
    return found


def _item(content_id: str, kind: str, page: WikiPage, title: str, at: datetime) -> Item:
    return Item(content_id=content_id, kind=kind, space=page.space, title=title, modified=at)


def _pick(page: WikiPage, number: int) -> PageVersion:
    if not number:
        return page.current
    return next(one for one in page.versions if one.number == number)
