"""What runs when: jobs of every source, led by one process, with a history."""
