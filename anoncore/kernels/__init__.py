"""Hot loops, compiled with numba; each has a plain twin in the tests."""
