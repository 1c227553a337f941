"""Random numbers of compiled code, which follow from a state."""

from __future__ import annotations

from anoncore.kernels.compiler import inner_kernel


@inner_kernel
def next_state(state: int) -> int:
    """The next state of scikit-learn's generator, an xorshift of 32 bits."""
    if state == 0:
        state = 1
    state ^= (state << 13) & 0xFFFFFFFF
    state ^= state >> 17
    state ^= (state << 5) & 0xFFFFFFFF
    return state
