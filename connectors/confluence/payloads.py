"""Replies of Confluence's REST APIs: v1 of both flavours, and v2 of Cloud."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import ConfigDict, Field, model_validator

from connectors.rest import Payload as RestPayload


class Payload(RestPayload):
    """A reply in which null means that there is nothing, and ids may come as numbers."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, value: object) -> object:
        if isinstance(value, Mapping):
            return {key: one for key, one in value.items() if one is not None}
        return value


class Links(Payload):
    """Where to go on, and where a file is."""

    next: str = ""
    base: str = ""
    download: str = ""


class User(Payload):
    """An account; Cloud has account ids, Data Center user keys and names."""

    account_id: str = Field(default="", alias="accountId")
    user_key: str = Field(default="", alias="userKey")
    username: str = ""
    display_name: str = Field(default="", alias="displayName")


class Group(Payload):
    """A group; Cloud knows it by id, Data Center by name."""

    id: str = ""
    name: str = ""


class Listing(Payload):
    """A page of a listing."""

    results: tuple[object, ...] = ()
    links: Links = Field(default=Links(), alias="_links")


class Users(Listing):
    """Some users."""

    results: tuple[User, ...]


class Groups(Listing):
    """Some groups."""

    results: tuple[Group, ...]


class NamedUsers(Payload):
    """Users of a restriction; None = the reply does not say."""

    results: tuple[User, ...] | None = None


class NamedGroups(Payload):
    """Groups of a restriction; None = the reply does not say."""

    results: tuple[Group, ...] | None = None


class Subjects(Payload):
    """Who is named in a restriction; a list that is left out is not an empty one."""

    user: NamedUsers = NamedUsers()
    group: NamedGroups = NamedGroups()


class Restriction(Payload):
    """A restriction of one operation."""

    restrictions: Subjects = Subjects()


class Restrictions(Payload):
    """Restrictions by operation."""

    read: Restriction | None = None


class Version(Payload):
    """A version in v1."""

    number: int
    when: datetime
    by: User = User()
    message: str | None = None
    content: "Content | None" = None


class Storage(Payload):
    """A body in storage format."""

    value: str | None = None


class Body(Payload):
    """A body by format."""

    storage: Storage | None = None

    @property
    def text(self) -> str | None:
        """The text in storage format; None = the reply has none, though the page may."""
        return self.storage.value if self.storage else None


class SpaceV1(Payload):
    """A space in v1; the id is a number."""

    key: str
    id: int | str = ""
    name: str = ""


class Parent(Payload):
    """Content that is only named."""

    id: str
    type: str = ""


class Label(Payload):
    """A label."""

    name: str


class Labels(Payload):
    """Labels of a page."""

    results: tuple[Label, ...] = ()


class Metadata(Payload):
    """Metadata in v1."""

    labels: Labels | None = None
    media_type: str = Field(default="", alias="mediaType")


class Extensions(Payload):
    """What attachments have beside."""

    media_type: str = Field(default="", alias="mediaType")
    file_size: int = Field(default=0, alias="fileSize")


class Content(Payload):
    """A page, blog post, attachment or comment in v1."""

    id: str
    type: str = ""
    status: str = "current"
    title: str = ""
    space: SpaceV1 | None = None
    version: Version | None = None
    ancestors: tuple[Parent, ...] | None = None
    container: Parent | None = None
    restrictions: Restrictions | None = None
    metadata: Metadata = Metadata()
    extensions: Extensions = Extensions()
    body: Body = Body()
    links: Links = Field(default=Links(), alias="_links")


class Contents(Listing):
    """A page of a v1 listing."""

    results: tuple[Content, ...]


class Versions(Listing):
    """A page of a v1 listing of versions."""

    results: tuple[Version, ...]


class SpacesV1(Listing):
    """A page of a v1 listing of spaces."""

    results: tuple[SpaceV1, ...]


class Operation(Payload):
    """What a permission allows; Data Center calls the key otherwise."""

    key: str = ""
    operation_key: str = Field(default="", alias="operationKey")
    target: str = Field(default="", alias="targetType")


class Subject(Payload):
    """Whom a Data Center permission is given to."""

    type: str = ""
    name: str = ""
    username: str = ""
    user_key: str = Field(default="", alias="userKey")


class SpacePermissionV1(Payload):
    """A permission of Data Center 9.1 and later."""

    operation: Operation = Operation()
    subject: Subject | None = None


class PermissionGrant(Payload):
    """A permission of older servers."""

    type: str = ""
    user_name: str | None = Field(default=None, alias="userName")
    group_name: str | None = Field(default=None, alias="groupName")


class PermissionSet(Payload):
    """The grants of one type, of older servers."""

    type: str
    grants: tuple[PermissionGrant, ...] = Field(default=(), alias="spacePermissions")


class VersionV2(Payload):
    """A version in v2."""

    number: int
    at: datetime = Field(alias="createdAt")
    author_id: str | None = Field(default="", alias="authorId")
    message: str | None = None
    page: "PageV2 | None" = None


class PageV2(Payload):
    """A page or blog post in v2."""

    id: str
    status: str = "current"
    title: str = ""
    space_id: str | None = Field(default="", alias="spaceId")
    parent_id: str | None = Field(default="", alias="parentId")
    version: VersionV2 | None = None
    body: Body = Body()


class PagesV2(Listing):
    """A page of a v2 listing."""

    results: tuple[PageV2, ...]


class VersionsV2(Listing):
    """A page of a v2 listing of versions."""

    results: tuple[VersionV2, ...]


class SpaceV2(Payload):
    """A space in v2."""

    id: str
    key: str
    name: str = ""
    type: str = "global"
    status: str = "current"


class SpacesV2(Listing):
    """A page of a v2 listing of spaces."""

    results: tuple[SpaceV2, ...]


class PrincipalV2(Payload):
    """Whom a Cloud permission is given to."""

    type: str = ""
    id: str = ""


class SpacePermissionV2(Payload):
    """A permission on Cloud."""

    principal: PrincipalV2
    operation: Operation


class SpacePermissionsV2(Listing):
    """A page of a v2 listing of permissions."""

    results: tuple[SpacePermissionV2, ...]


class AttachmentV2(Payload):
    """An attachment in v2."""

    id: str
    status: str = "current"
    title: str = ""
    page_id: str | None = Field(default="", alias="pageId")
    blog_post_id: str | None = Field(default="", alias="blogPostId")
    media_type: str | None = Field(default="", alias="mediaType")
    size: int = Field(default=0, alias="fileSize")
    download: str = Field(default="", alias="downloadLink")
    version: VersionV2


class AttachmentsV2(Listing):
    """A page of a v2 listing of attachments."""

    results: tuple[AttachmentV2, ...]


class CommentV2(Payload):
    """A comment in v2."""

    id: str
    status: str = "current"
    version: VersionV2
    body: Body = Body()


class CommentsV2(Listing):
    """A page of a v2 listing of comments."""

    results: tuple[CommentV2, ...]


class Parents(Listing):
    """The ancestors of a page, from the top down."""

    results: tuple[Parent, ...]
