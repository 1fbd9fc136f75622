"""Skills: what the assistant can look up and do beyond its own pages, written down in files."""
