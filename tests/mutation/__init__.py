"""Changes random places of the core, and reports the changes that no test notices."""
