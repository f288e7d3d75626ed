"""Which addresses may be contacted, and from which? Names, networks and routes."""
