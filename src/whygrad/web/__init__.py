"""Recorded runs in a browser: view models, the JSON API, and a WSGI application that serves them with the page.

Read-only towards the files, but for names, tags, notes and deleting, which a person asks for.
"""
