"""Slack, on its own Bolt framework: events in, rendered answers out."""
