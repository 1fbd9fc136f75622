"""The tools every company has: its pages, its people, and sums."""
