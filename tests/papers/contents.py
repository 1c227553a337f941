"""Every figure, table, theorem and algorithm of the five papers, and what their text claims: what it shows, and why
nothing can be run where that is so.
"""

from __future__ import annotations

from dataclasses import dataclass

NOTATION = "a list of symbols, no result"
DRAWING = "a drawing that explains a definition; it states no result"


@dataclass(frozen=True)
class Item:
    """One figure, table, theorem or algorithm, or a section with claims. `reason`: why there is nothing to run."""

    label: str
    shows: str
    reason: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper and what is in it, in its order; `module` of tests.papers has its experiments."""

    name: str
    module: str
    title: str
    source: str
    items: tuple[Item, ...]


def _figures(first: int, last: int, shows: str) -> tuple[Item, ...]:
    return tuple(Item(f"figure {number}", shows) for number in range(first, last + 1))


SLICING = Paper(
    "slicing",
    "slicing",
    "Slicing",
    "Li, Li, Zhang and Molloy, Slicing: a new approach to privacy preserving data publishing, 2009",
    (
        Item("table 1", "a table of eight people and its anonymized versions"),
        Item("section 2", "slicing beside generalization and bucketization, in words"),
        Item("fact 1", "the probabilities of a tuple's sensitive values"),
        Item("section 4.1", "correlated attributes are put together"),
        Item("section 4.2", "values that are unique in their column"),
        Item("figure 1", "the algorithm that partitions the rows"),
        Item("figure 2", "the algorithm that checks diversity"),
        Item("section 4.3", "the cost of the algorithm"),
        Item("section 5", "how slicing hides who is in the table"),
        Item("table 2", "the attributes of Adult"),
        Item("section 6", "which attributes are closest to the occupation"),
        Item("figure 3", "accuracy of learning the sensitive attribute"),
        Item("figure 4", "accuracy of learning a quasi-identifier"),
        Item("figure 5", "accuracy with more columns"),
        Item("section 6.3", "membership under bucketization; better groupings as future work"),
        Item("figure 6", "number of fake tuples"),
        Item("figure 7", "tuples by number of matching buckets"),
    ),
)
FOREGROUND = Paper(
    "foreground-knowledge",
    "foreground_knowledge",
    "Foreground knowledge",
    "Wong, Fu, Wang, Xu and Yu, Can the utility of anonymized data be used for privacy breaches?, 2009",
    (
        Item("table 1", "six people and their diseases"),
        Item("table 2", "their 2-diverse release"),
        Item("table 3", "shares of heart disease by nationality that an adversary may have mined"),
        Item("table 4", "the form of a global distribution", NOTATION),
        Item("table 5", "possible worlds of a group of four"),
        Item("table 6", "notations", NOTATION),
        Item("table 7", "six tuples of two signatures"),
        Item("table 8", "their groups, and the global distribution mined from them"),
        Item("theorem 1", "how many tuples a share can be learned from"),
        Item("algorithm 1", "which signatures are mined"),
        Item(
            "section 4.4",
            "whether what is learned has to be true",
            "an argument about adversaries who see the original table; it states no result",
        ),
        Item("section 5.1", "breaches of Anatomy on Adult, in numbers"),
        Item("section 5.2", "breaches of the other methods, in words"),
        Item("figure 1", "the effect of the QI size, r = 2"),
        Item("figure 2", "the effect of the QI size, r = 10"),
        Item("figure 3", "the error of count queries"),
    ),
)
T_CLOSENESS = Paper(
    "t-closeness",
    "t_closeness",
    "t-Closeness",
    "Thammanna Gowda, Methods to achieve t-closeness for privacy preserving data publishing, 2023",
    (
        Item("figure 2.1", "two sources that are linked", DRAWING),
        Item("figure 2.2", "collecting and publishing data", DRAWING),
        Item("table 2.1", "nine patients"),
        Item("table 2.2", "suppressed values", "an illustration on four rows without a method or a level"),
        Item("figure 2.3", "taxonomies of job, sex and age"),
        Item("table 2.3", "generalized values", "an illustration on four rows without a method or a level"),
        Item("table 2.4", "a quasi-identifier table"),
        Item("table 2.5", "a sensitive table"),
        Item("table 2.6", "an external table with names"),
        Item("table 2.7", "the patients that it is linked with"),
        Item("table 2.8", "patients, most with heart disease"),
        Item("table 2.9", "their 3-anonymous version"),
        Item("table 2.10", "salaries and diseases"),
        Item("table 2.11", "their 3-diverse version"),
        Item("table 3.1", "the form of a stack", NOTATION),
        Item("table 3.2", "frequencies of ten salaries"),
        Item("table 3.3", "the classes that are dealt"),
        Item("table 3.4", "their distances from the table"),
        Item("section 3.4", "the cost of Stack & Deal"),
        Item("section 3.6", "what the classes of Stack & Deal have in common"),
        Item("figure 3.1", "Stack & Deal among random partitions, data set 1"),
        Item("figure 3.2", "Stack & Deal among random partitions, Heart"),
        Item("figure 4.1", "a multiplicity matrix of 400 records"),
        Item("figure 4.2", "fragments of a matrix", DRAWING),
        Item("figure 4.3", "a fragmentation into three", DRAWING),
        Item("figure 4.4", "the lattice of fragmentations", DRAWING),
        Item("figure 4.5", "a class that conforms, and one that does not", DRAWING),
        Item("figure 4.6", "a cut that raises one bound"),
        Item("figure 4.7", "fragmentations with acceptable bounds", DRAWING),
        Item("figure 4.8", "four fragments and the smallest class that conforms"),
        Item("section 4.4", "how close classes are that conform to a fragmentation, and that one is always found"),
        Item("section 4.4.2", "how many classes conform to a fragmentation"),
        Item("section 4.5", "more than two sensitive attributes"),
        Item("table 5.1", "fifteen records with two sensitive attributes"),
        Item("table 5.2", "their multiplicity matrix"),
        Item("table 5.3", "their stack"),
        Item("section 5.4", "what the classes have in common with several sensitive attributes"),
        Item("figure 5.1", "two sensitive attributes: Stack & Deal among random partitions"),
        Item("figure 6.1", "privacy loss against k"),
        Item("chapter 6", "information loss against k"),
        Item("chapter 7", "the smallest t, in words"),
    ),
)
ROTHKO = Paper(
    "rothko",
    "rothko_book",
    "Rothko",
    "LeFevre and DeWitt, Scalable anonymization algorithms for large data sets, TR 1590, 2007",
    (
        Item("figure 1", "a hierarchy of nationalities"),
        Item("figure 2", "a partition tree"),
        Item("section 2", "that counts are enough to choose a split"),
        Item("section 2.2", "rules that make up the recoding"),
        Item("figure 3", "a tree grown scan by scan", DRAWING),
        Item("figure 4", "a tree grown on a sample", DRAWING),
        Item("section 3.1", "how seldom a test lets a wrong split pass"),
        Item("section 3.2", "that the requirements always hold"),
        Item("figure 5", "notations", NOTATION),
        Item("figure 6", "the authors' machine", "a list of hardware of 2007; sizes are scaled to ours instead"),
        Item("figure 7", "the synthetic table and its targets"),
        *_figures(8, 9, "what the in-memory algorithm takes as rows grow"),
        Item("figure 10", "tables read and written by RothkoTree"),
        Item("figure 11", "tables read and written by RothkoSampling"),
        Item("figure 12", "rows read and written as the table grows"),
        *_figures(13, 15, "times over the rows, median"),
        *_figures(16, 18, "times over k, median"),
        *_figures(19, 21, "times over the rows, information gain"),
        Item(
            "section 5.4",
            "seconds of waiting for a disk",
            "they are those of a disk of 2007; rows read and written are judged instead (figures 10 to 12)",
        ),
        *_figures(22, 24, "class entropy over sample size and k"),
        *_figures(25, 27, "error of a numeric target over sample size and k"),
        Item("figure 28", "pruning and non-minimality with and without the tests"),
        Item("appendix", "variance diversity is monotone"),
    ),
)
VERTICAL = Paper(
    "vertical-fragmentation",
    "vertical_fragmentation",
    "Vertical fragmentation",
    "Zakerzadeh, Aggarwal and Barker, Towards breaking the curse of dimensionality, extended version, 2014",
    (
        Item("table 1", "notations of fragmentation k-anonymity", NOTATION),
        Item("theorem 4.1", "when fragments cannot be joined below k"),
        Item("section 4.2.2", "one class value in every class"),
        Item("table 2", "notations of fragmentation l-diversity", NOTATION),
        Item("theorem 5.1", "that chunks keep k and l when they are joined"),
        Item("section 5.1", "membership under fragmentation"),
        Item("figure 1", "information loss over dimension and k"),
        Item("figure 2", "F-measure over the dimension"),
        Item("figure 3", "F-measure over k"),
        Item(
            "section 6.3",
            "that six features of Musk tell the class",
            "the paper does not say which six, nor what a significant role is",
        ),
        Item("table 3", "class values published per row and per class"),
        Item("table 4", "two of the versions that are possible then"),
        Item("table 5", "rows of Musk per class"),
        Item("algorithm 1", "how fragments are made"),
        Item(
            "algorithm 2",
            "the dependency graph",
            "it lists which classes have a class value in common; algorithms 3 and 4 are judged on that list",
        ),
        Item("algorithm 3", "enforcement by the dependency graph"),
        Item("algorithm 4", "enforcement by selectivity"),
        Item("appendix C", "how eta is counted"),
        Item("appendix D", "class values that are changed"),
    ),
)
PAPERS = (SLICING, FOREGROUND, T_CLOSENESS, ROTHKO, VERTICAL)
