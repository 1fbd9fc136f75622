"""Changes to the wiki, as people make them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from playground.confluence.wiki import (
    FileVersion,
    PageVersion,
    Wiki,
    WikiComment,
    WikiFile,
    WikiPage,
    WikiPerson,
    WikiSpace,
)


class WikiEditor:
    """Edits a wiki. Moves, restrictions, labels and status make no new version, as in Confluence.

    Methods raise KeyError for what is not there.
    """

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        self._next_id = 1_000_001

    def add_space(
        self, key: str, name: str, *, groups: Sequence[str] = (), users: Sequence[str] = ()
    ) -> WikiSpace:
        """Make a space that groups and users may view."""
        number = str(91_000 + len(self.wiki.spaces))
        view = {"groups": list(groups), "users": list(users)}
        self.wiki.spaces[key] = WikiSpace(key=key, space_id=number, name=name, view=view)
        return self.wiki.spaces[key]

    def add_person(self, person_id: str, name: str = "") -> WikiPerson:
        """Give somebody an account."""
        person = WikiPerson(
            person_id=person_id, account_id=f"acc:{person_id}", name=name or person_id
        )
        self.wiki.people[person_id] = person
        return person

    def add_page(
        self,
        space: str,
        title: str,
        body: str,
        *,
        parent: str = "",
        page_id: str = "",
        by: str = "",
        kind: str = "page",
        status: str = "current",
    ) -> WikiPage:
        """Make a page."""
        page = WikiPage(
            page_id=page_id or self._new_id(),
            space=space,
            parent_id=parent,
            kind=kind,
            status=status,
            author=by,
        )
        page.versions.append(self._make_version(1, title, body, by, ""))
        self.wiki.pages[page.page_id] = page
        return page

    def edit(
        self, page_id: str, body: str, *, title: str = "", by: str = "", message: str = ""
    ) -> None:
        """Write a page's next version."""
        page = self.wiki.pages[page_id]
        number = page.current.number + 1
        page.versions.append(self._make_version(number, title or page.title, body, by, message))

    def rename(self, page_id: str, title: str) -> None:
        """Give a page another title, which is a new version."""
        self.edit(page_id, self.wiki.pages[page_id].current.body, title=title)

    def move(self, page_id: str, parent: str, *, space: str = "") -> None:
        """Put a page, with all below it, under another one."""
        page = self.wiki.pages[page_id]
        page.parent_id = parent
        target = space or (self.wiki.pages[parent].space if parent in self.wiki.pages else "")
        if target and target != page.space:
            page.space = target
            for child in self.wiki.children_of(page_id):
                self.move(child.page_id, page_id, space=target)

    def restrict(
        self, page_id: str, *, users: Iterable[str] = (), groups: Iterable[str] = ()
    ) -> None:
        """Let only these read a page; nobody named lifts the restriction."""
        readers = {"users": list(users), "groups": list(groups)}
        self.wiki.pages[page_id].readers = readers if any(readers.values()) else None

    def set_status(self, page_id: str, status: str) -> None:
        """Archive, trash or restore a page; its children move up when it is trashed."""
        page = self.wiki.pages[page_id]
        if status == "trashed":
            for child in self.wiki.children_of(page_id):
                child.parent_id = page.parent_id
        page.status = status

    def purge(self, page_id: str) -> None:
        """Delete a page for good."""
        del self.wiki.pages[page_id]

    def purge_version(self, page_id: str, number: int, *, leaves_gap: bool = False) -> None:
        """Remove an earlier version for good; those after it count down by one.

        Args:
            page_id: Of which page.
            number: Which version; never the current one.
            leaves_gap: Let the others keep their numbers.

        Raises:
            KeyError: There is no such earlier version.
        """
        page = self.wiki.pages[page_id]
        if number not in {one.number for one in page.versions[:-1]}:
            raise KeyError(number)
        page.versions = [one for one in page.versions if one.number != number]
        for version in page.versions if not leaves_gap else ():
            version.number -= version.number > number

    def set_labels(self, page_id: str, labels: Iterable[str]) -> None:
        """Give a page exactly these labels."""
        self.wiki.pages[page_id].labels = list(labels)

    def attach(self, page_id: str, name: str, content: bytes, *, media_type: str = "") -> WikiFile:
        """Attach a file, or a new version of one of that name."""
        for file in self.wiki.files_of(page_id):
            if file.name == name:
                number = file.current.number + 1
                file.versions.append(
                    replace(
                        file.current, number=number, content=content, when=self.wiki.clock.now()
                    )
                )
                return file
        version = FileVersion(number=1, when=self.wiki.clock.now(), by="", content=content)
        file = WikiFile(
            file_id=f"att{self._new_id()}",
            page_id=page_id,
            name=name,
            media_type=media_type or "text/plain",
            versions=[version],
        )
        self.wiki.files[file.file_id] = file
        return file

    def comment(
        self, page_id: str, body: str, *, by: str = "", is_inline: bool = False
    ) -> WikiComment:
        """Comment on a page, below it or on some of its words."""
        comment = WikiComment(
            comment_id=self._new_id(),
            page_id=page_id,
            by=by,
            when=self.wiki.clock.now(),
            body=body,
            is_inline=is_inline,
        )
        self.wiki.comments[comment.comment_id] = comment
        return comment

    def reply(self, comment_id: str, body: str, *, by: str = "") -> WikiComment:
        """Reply to a comment."""
        to = self.wiki.comments[comment_id]
        comment = self.comment(to.page_id, body, by=by, is_inline=to.is_inline)
        comment.parent_id = comment_id
        return comment

    def set_view(
        self, space: str, *, groups: Iterable[str] = (), users: Iterable[str] = ()
    ) -> None:
        """Let exactly these view a space."""
        self.wiki.spaces[space].view = {"groups": list(groups), "users": list(users)}

    def add_member(self, group: str, person_id: str) -> None:
        """Put somebody into a group, which is made when it is new."""
        members = self.wiki.groups.setdefault(group, [])
        if person_id not in members:
            members.append(person_id)

    def remove_member(self, group: str, person_id: str) -> None:
        """Take somebody out of a group."""
        self.wiki.groups[group] = [one for one in self.wiki.groups[group] if one != person_id]

    def _make_version(
        self, number: int, title: str, body: str, by: str, message: str
    ) -> PageVersion:
        return PageVersion(
            number=number,
            when=self.wiki.clock.now(),
            by=by,
            message=message,
            title=title,
            body=body,
        )

    def _new_id(self) -> str:
        self._next_id += 1
        return str(self._next_id)
