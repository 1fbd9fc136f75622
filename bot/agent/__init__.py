"""Doing things for people: skills, and the confirmation without which nothing is written."""
