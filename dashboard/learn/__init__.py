"""The pages Learn and Reference, and the lessons, several on one matter in a module: each is a `Lesson` that its
functions draw step by step.
"""
