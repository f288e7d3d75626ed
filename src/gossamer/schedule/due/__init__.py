"""When is a page due? Change rates, rhythms of feeds, and the counts of due pages."""
