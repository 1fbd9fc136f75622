"""The error tree, sorted by who has to act.

`str(error)` is for operators: what failed, on which object, what to do. `public_message` is the
only text of an error that a chat may show.
"""

from typing import ClassVar


class ZhixingError(Exception):
    """Root of all our errors."""

    public_message: ClassVar[str] = "Something went wrong on our side. 我们这边出错了。"


class SettingsError(ZhixingError):
    """The operator has to mend a setting or an argument; commands exit with status 2."""


class PortTakenError(SettingsError):
    """Something else listens there, perhaps another process of ours."""


class PermanentError(ZhixingError):
    """Trying again will not help until somebody changes the object."""


class AccessDeniedError(PermanentError):
    """The source refuses us the object. Never a reason to delete what we hold of it."""


class ResourceGoneError(PermanentError):
    """The source confirms that the object no longer exists."""


class UnsupportedContentError(PermanentError):
    """The object exists but cannot be read: encrypted, damaged, of an unknown kind, too large."""


class TransientError(ZhixingError):
    """Trying again later may help."""

    public_message: ClassVar[str] = (
        "A service we need is not answering; please try again shortly. "
        "依赖的服务暂时没有响应，请稍后再试。"
    )


class RateLimitedError(TransientError):
    """The service asks us to slow down.

    Attributes:
        retry_after_s: Seconds to wait before the next call.
    """

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ServiceUnavailableError(TransientError):
    """The service is down, overloaded or unreachable."""


class RefusedError(ZhixingError):
    """This person may not do this; said to them without naming what they may not see."""

    public_message: ClassVar[str] = "You are not allowed to do this. 您没有权限执行此操作。"


class ModelReplyError(ZhixingError):
    """A language model's reply was empty, cut short or not what was asked for."""

    public_message: ClassVar[str] = (
        "The language model gave no usable reply. 语言模型没有给出可用的回复。"
    )


class PromptTooLongError(ModelReplyError):
    """The conversation does not fit into the model's context; send less of it."""


class ToolRetryError(ZhixingError):
    """A model called a tool with arguments it should mend; the message tells it how."""


class ToolFailedError(ZhixingError):
    """A tool could not do its work; the model should go on without it."""
