"""The foreground-knowledge attack: what a release as a whole tells about each person in it."""

from anoncore.attacks.foreground.attack import foreground_knowledge
from anoncore.attacks.foreground.facts import Fact
from anoncore.attacks.foreground.first_answer import ForegroundEstimate, foreground_knowledge_estimate
from anoncore.attacks.foreground.result import ForegroundKnowledge, GroupView
from anoncore.attacks.foreground.sets import SetLeak
from anoncore.attacks.foreground.with_facts import ForegroundWithFacts
from anoncore.attacks.foreground.worlds import PossibleWorlds, group_probabilities, possible_worlds

__all__ = [
    "Fact",
    "ForegroundEstimate",
    "ForegroundKnowledge",
    "ForegroundWithFacts",
    "GroupView",
    "PossibleWorlds",
    "SetLeak",
    "foreground_knowledge",
    "foreground_knowledge_estimate",
    "group_probabilities",
    "possible_worlds",
]
