"""What the bot remembers of a conversation."""
