"""The pages that look closer at a release, and what some of them show of one attack or one method, a module for each of
these: its functions draw it with `f(run)`.
"""
