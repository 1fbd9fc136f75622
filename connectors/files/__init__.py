"""A folder of real files as a source of knowledge."""
