"""A stand-in for Confluence: one wiki, served as Cloud and as Data Center."""
