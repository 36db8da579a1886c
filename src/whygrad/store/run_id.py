"""Short readable names for runs: `calm-otter-42`."""

from __future__ import annotations

import secrets
from typing import Final

_FIRST: Final = """
    amber bold brave brisk calm clear crisp deep dusty early eager fair fast fine fond free fresh gentle glad gold grand
    green happy high jolly keen kind light lively lucky mellow merry mild misty neat new noble pale plain proud pure
    quick quiet rapid rare red ripe rosy royal shy silver sleek small snowy soft solid spry steady still stout sunny
    swift tall tidy true vivid warm wild wise young
"""
_SECOND: Final = """
    ant badger bear beaver bee bird bison boar crab crane crow deer dove duck eagle egret elk falcon ferret finch fish
    fox frog gecko goat goose hare hawk heron horse ibis jay kite koala lark lemur lion llama lynx magpie marten mole
    moose moth mouse newt orca otter owl ox panda pike pony puffin quail raven robin salmon seal shrew snail sparrow
    stork swan tern tiger toad trout turtle vole walrus wasp whale wolf wren yak zebra
"""


def new_id() -> str:
    """A name out of half a million. Drawn from the system, never from the random numbers of the training."""
    first, second = secrets.choice(_FIRST.split()), secrets.choice(_SECOND.split())
    return f"{first}-{second}-{secrets.randbelow(90) + 10}"
