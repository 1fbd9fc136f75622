"""What every other package stands on: errors, settings, clock, logging, database, http, models."""
