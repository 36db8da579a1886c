"""How long a random graph takes says nothing: no deadlines."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("no deadlines", deadline=None)
settings.load_profile("no deadlines")
