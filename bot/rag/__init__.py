"""Answers from evidence: quoted or written, cited and checked."""
