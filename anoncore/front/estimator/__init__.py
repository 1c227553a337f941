"""Anonymizing as scikit-learn does things: an estimator whose `fit` learns and whose `transform` applies."""

from anoncore.base.extras import require

# The estimator is one by its base classes, so its module cannot be imported without scikit-learn.
require("The estimator Anonymizer", "sklearn")

from anoncore.front.estimator.anonymizer import Anonymizer  # noqa: E402  # only where it can be imported

__all__ = ["Anonymizer"]
