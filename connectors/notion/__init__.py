"""Notion: pages, databases and their rows, read through its public API."""
