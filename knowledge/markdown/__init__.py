"""Markdown as people write it, read into blocks that are slices of the source."""
