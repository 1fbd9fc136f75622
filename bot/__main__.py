"""`python -m bot` is `zhixing`."""

from bot.cli import main

main()
