"""What a release costs: information lost, groups too large, associations, predictions and answers gone wrong."""

from anoncore.utility.associations import AssociationError, association, association_error
from anoncore.utility.groups import AverageGroupSize, GroupScore, average_group_size, discernibility
from anoncore.utility.homogeneity import TargetScore, conditional_entropy, rmse
from anoncore.utility.learning import Classification, classification
from anoncore.utility.learning_estimate import ClassificationEstimate, classification_estimate
from anoncore.utility.loss import InformationLoss, information_loss
from anoncore.utility.loss_bound import LeastLoss, least_loss
from anoncore.utility.outcome import Outcome
from anoncore.utility.queries import QueryError, query_error
from anoncore.utility.two_way import TwoWayError, two_way_error
from anoncore.utility.two_way_bound import TwoWayErrorBound, two_way_error_bound
from anoncore.utility.workload import QueryWorkload

__all__ = [
    "AssociationError",
    "AverageGroupSize",
    "Classification",
    "ClassificationEstimate",
    "GroupScore",
    "InformationLoss",
    "LeastLoss",
    "Outcome",
    "QueryError",
    "QueryWorkload",
    "TargetScore",
    "TwoWayError",
    "TwoWayErrorBound",
    "association",
    "association_error",
    "average_group_size",
    "classification",
    "classification_estimate",
    "conditional_entropy",
    "discernibility",
    "information_loss",
    "least_loss",
    "query_error",
    "rmse",
    "two_way_error",
    "two_way_error_bound",
]


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__
