"""Questions from chats, from the moment they are accepted until they were answered."""
