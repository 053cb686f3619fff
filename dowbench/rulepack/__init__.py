"""The rule pack: rule files, what they compile to, and what reports need to know of them."""

from dowbench.rulepack.pack import RulePack, builtin_directory, load_pack
from dowbench.rulepack.rule import Rule
from dowbench.rulepack.settings import LIMITS, Settings

__all__ = ["LIMITS", "Rule", "RulePack", "Settings", "builtin_directory", "load_pack"]
