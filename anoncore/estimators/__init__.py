"""Anonymizing as scikit-learn does things: an estimator whose `fit` learns and whose `transform` applies."""

from anoncore.estimators.anonymizer import Anonymizer

__all__ = ["Anonymizer"]
