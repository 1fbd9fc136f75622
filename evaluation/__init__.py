"""Measuring from outside: data sets, metrics, runs, reports and the bench. Nobody imports it."""
