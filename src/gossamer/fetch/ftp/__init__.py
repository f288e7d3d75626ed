"""Fetches files and folders of FTP servers."""
