"""Where knowledge comes from: one folder a source; only they know the vendor's API."""
