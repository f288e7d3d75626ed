"""Fetches over HTTP, with bounds on heads, bodies and rates."""
