"""Recorded runs -> what the page is told, as dicts and lists; nothing here knows of a server."""
