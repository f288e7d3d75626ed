"""What is a URL, a host, a robots.txt, an encoding, a similar text? Knows nothing of a crawl."""
