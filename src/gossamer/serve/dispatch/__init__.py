"""How does the server answer many searches at once? Cache, shared searches, fair turns."""
