"""Random numbers of compiled code, which follow from a state: an xorshift of 32 bits (Marsaglia, 2003)."""

from __future__ import annotations

from anoncore.kernels.compiler import inner_kernel


@inner_kernel
def next_state(state: int) -> int:
    """The next state; one of 0, which would stay, counts as 1."""
    if state == 0:
        state = 1
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    state ^= (state << 5) & 0xFFFFFFFF
    return state
