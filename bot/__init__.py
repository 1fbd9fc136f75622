"""The bot: what people talk to."""
