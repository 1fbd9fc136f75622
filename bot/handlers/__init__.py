"""The chats people use: each parses its events and renders answers."""
