"""Questions about business records: tables, read with the rights of whoever asks."""
