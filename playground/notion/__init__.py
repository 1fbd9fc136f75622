"""A Notion workspace on loopback that answers as the real API does, with its quirks."""
