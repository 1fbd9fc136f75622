"""What the company knows: documents and their versions, rights, index and retrieval."""
