"""Bucketization: Anatomy, Injector and ForegroundSafe."""
