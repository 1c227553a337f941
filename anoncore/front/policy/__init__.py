"""An office's rules as data: what a release has to keep before it leaves the house, and whether it does."""

PRESETS = (
    "open",
    "hospital",
    "research",
    "teaching",
    "ema-policy-0070",
    "cms",
    "hipaa-safe-harbor",
    "wp216",
)
"""The policies that come with the program, in the order in which they are offered."""
