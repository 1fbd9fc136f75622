"""Keeps the heap of the process small where glibc manages it; elsewhere does nothing.

LanceDB runs many threads, and glibc gives each its own arena, which keeps what it once took: after
some rewrites of 50,000 passages 750 MB stay, of which 350 are in use. Two arenas that give back
what is free are as quick (measured).
"""

import ctypes

import pyarrow as pa

_M_ARENA_MAX = -8
_ARENAS = 2
_LIBC = ctypes.CDLL(None)


def limit_arenas() -> None:
    """Let threads of this process share a few arenas from now on."""
    if hasattr(_LIBC, "mallopt"):
        _LIBC.mallopt(_M_ARENA_MAX, _ARENAS)


def return_free_memory() -> None:
    """Give free memory back to the system; takes some ten milliseconds."""
    pa.default_memory_pool().release_unused()
    if hasattr(_LIBC, "malloc_trim"):
        _LIBC.malloc_trim(0)
