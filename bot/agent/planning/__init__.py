"""What is worked out without a model: single look-ups in records, and drafts of single actions."""
