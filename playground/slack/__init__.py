"""A Slack workspace on loopback: Web API, Socket Mode and HTTP delivery, as strict as Slack."""
