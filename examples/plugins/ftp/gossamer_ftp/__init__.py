"""A plugin for Gossamer that fetches files and folders of FTP servers."""
