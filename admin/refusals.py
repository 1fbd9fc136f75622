"""What a page can't do for a viewer, told in their language."""


class PageRefusal(Exception):  # noqa: N818 - nothing went wrong
    """A wish that is refused.

    Attributes:
        key: Names the text (`texts.py`).
        values: What goes into it.
    """

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key = key
        self.values = values
