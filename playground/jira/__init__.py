"""A stand-in for Jira: its REST API, Cloud and Data Center, and a board to look at."""
