"""Names of processes, by which another one can tell that the owner of something is dead."""

import os
import socket
from functools import cache
from uuid import uuid4

_PID_NAMESPACE = "/proc/self/ns/pid"


def name_process() -> str:
    """Return a name for a holder in this process: `MACHINE|PID|NONCE`, another one every time."""
    return f"{_name_machine()}|{os.getpid()}|{uuid4().hex[:12]}"


def is_dead(owner: str) -> bool:
    """Tell whether a named process has certainly ended.

    False whenever that can't be known: it is on another machine or in another container, or its
    number was given to a new process.
    """
    machine, _, rest = owner.partition("|")
    number = rest.partition("|")[0]
    if machine != _name_machine() or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@cache
def _name_machine() -> str:
    try:
        # Containers may share a host name, but not the numbers of their processes.
        namespace = os.readlink(_PID_NAMESPACE)
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}{namespace}".replace("|", "")
