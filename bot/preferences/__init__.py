"""What people and channels have chosen for themselves."""
