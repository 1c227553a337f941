"""Every figure, table, theorem and algorithm of the five papers, and what their text claims: what it shows, and why
nothing can be run where that is so.
"""

from __future__ import annotations

from dataclasses import dataclass

NOTATION = "a list of symbols, no result"
CUT = (
    "a bucket of which no cut by the widest attribute passes is cut by the next one (retry_splits=True, the library's "
    "default)"
)
CUT_TWICE = f"{CUT}, and in readings of their own by the widest alone, as the paper prints it"
EPSILON = (
    "epsilon = 0.01 and sigma = 0.9, as in the paper; the library itself would choose epsilon. Secrets are not "
    "shuffled for a control"
)
ALIKE = (
    "rows of equal sensitive values are dealt at random (locality=False), as in the dissertation; the library by "
    "default deals those that are alike together, which leaves the privacy loss as it is"
)
NEIGHBOURS = (
    "rows of equal sensitive values are dealt so that classes get those that are alike (locality=True, the library's "
    "default); the dissertation leaves open which rows a class gets"
)
BINS = "columns by our clustering, of which the paper prints only some; ten intervals of age in the first reading"
DRAWING = "a drawing that explains a definition; it states no result"


@dataclass(frozen=True)
class Item:
    """One figure, table, theorem or algorithm, or a section with claims. `reason`: why there is nothing to run.

    `settings`: what is set here otherwise than in the paper, or is not said there.
    """

    label: str
    shows: str
    reason: str = ""
    settings: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper and what is in it, in its order; `module` of tests.papers has its experiments."""

    name: str
    module: str
    title: str
    source: str
    items: tuple[Item, ...]


def _figures(first: int, last: int, shows: str, settings: str = "") -> tuple[Item, ...]:
    return tuple(Item(f"figure {number}", shows, settings=settings) for number in range(first, last + 1))


SMALL = "small random tables, as the paper has none"
SCALED = (
    "all sizes are a part of the paper's 50 million rows: one row in 25 fits in memory (memory_rows), below which "
    "nothing is sampled, and k is the rows / 50,000"
)
GROWN = '; growth = "memory": cuts by the sample end as soon as parts should fit in memory'
SAMPLED = (
    "memory_rows is the size of the sample, so that parts as small as that are finished without sampling, and with all "
    'rows nothing is sampled; growth = "confident"'
)
MUSK = (
    "delta = 0.5 and l = 2; the paper names neither the features it draws nor how test rows are read, for which there "
    "are three readings; a class that publishes a set of values is filled at random, five times"
)


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
        Item("figure 1", "the algorithm that partitions the rows", settings=CUT_TWICE),
        Item("figure 2", "the algorithm that checks diversity"),
        Item("section 4.3", "the cost of the algorithm"),
        Item("section 5", "how slicing hides who is in the table"),
        Item("table 2", "the attributes of Adult"),
        Item("section 6", "which attributes are closest to the occupation"),
        Item("figure 3", "accuracy of learning the sensitive attribute", settings=CUT_TWICE),
        Item("figure 4", "accuracy of learning a quasi-identifier", settings=CUT_TWICE),
        Item("figure 5", "accuracy with more columns", settings=CUT),
        Item("section 6.3", "membership under bucketization; better groupings as future work"),
        Item("figure 6", "number of fake tuples", settings=BINS),
        Item("figure 7", "tuples by number of matching buckets", settings=BINS),
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
        Item("section 5.1", "breaches of Anatomy on Adult, in numbers", settings=EPSILON),
        Item("section 5.2", "breaches of the other methods, in words", settings=EPSILON),
        Item("figure 1", "the effect of the QI size, r = 2", settings=EPSILON),
        Item("figure 2", "the effect of the QI size, r = 10", settings=EPSILON),
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
        Item("section 3.4", "the cost of Stack & Deal", settings=ALIKE),
        Item("section 3.6", "what the classes of Stack & Deal have in common"),
        Item("figure 3.1", "Stack & Deal among random partitions, data set 1", settings=ALIKE),
        Item("figure 3.2", "Stack & Deal among random partitions, Heart", settings=ALIKE),
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
        Item("figure 5.1", "two sensitive attributes: Stack & Deal among random partitions", settings=ALIKE),
        Item("figure 6.1", "privacy loss against k", settings=ALIKE),
        Item("chapter 6", "information loss against k", settings=NEIGHBOURS),
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
        Item("section 2", "that counts are enough to choose a split", settings=SMALL),
        Item("section 2.2", "rules that make up the recoding", settings=SMALL),
        Item("figure 3", "a tree grown scan by scan", DRAWING),
        Item("figure 4", "a tree grown on a sample", DRAWING),
        Item("section 3.1", "how seldom a test lets a wrong split pass"),
        Item(
            "section 3.2",
            "that the requirements always hold",
            settings="memory_rows = 9, below which nothing is sampled, samples of 8 rows and alpha = 0.5, so that many "
            "tests let wrong splits pass",
        ),
        Item("figure 5", "notations", NOTATION),
        Item("figure 6", "the authors' machine", "a list of hardware of 2007; sizes are scaled to ours instead"),
        Item("figure 7", "the synthetic table and its targets"),
        *_figures(
            8,
            9,
            "what the in-memory algorithm takes as rows grow",
            "memory_rows = 125,000, below which nothing is sampled; memory is limited to some hundred MB for tables of "
            "up to 8 million rows (paper: 512 MB)",
        ),
        Item("figure 10", "tables read and written by RothkoTree", settings=SCALED),
        Item(
            "figure 11",
            "tables read and written by RothkoSampling",
            settings=SCALED
            + '; growth = "confident": cuts go on as far as the tests are confident, as the paper\'s do',
        ),
        Item("figure 12", "rows read and written as the table grows", settings=SCALED + GROWN),
        *_figures(13, 15, "times over the rows, median", SCALED + GROWN),
        *_figures(16, 18, "times over k, median", SCALED + GROWN),
        *_figures(19, 21, "times over the rows, information gain", SCALED + GROWN),
        Item(
            "section 5.4",
            "seconds of waiting for a disk",
            "they are those of a disk of 2007; rows read and written are judged instead (figures 10 to 12)",
        ),
        *_figures(22, 24, "class entropy over sample size and k", SAMPLED),
        *_figures(25, 27, "error of a numeric target over sample size and k", SAMPLED),
        Item(
            "figure 28",
            "pruning and non-minimality with and without the tests",
            settings="memory_rows is the size of the sample, below which nothing is sampled; rows are divided when the "
            'tree has 256 leaves; growth = "confident"; parts without a confident cut are not handed to RothkoTree',
        ),
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
        Item("theorem 4.1", "when fragments cannot be joined below k", settings=SMALL),
        Item("section 4.2.2", "one class value in every class"),
        Item("table 2", "notations of fragmentation l-diversity", NOTATION),
        Item("theorem 5.1", "that chunks keep k and l when they are joined", settings=SMALL),
        Item("section 5.1", "membership under fragmentation", settings=SMALL),
        Item("figure 1", "information loss over dimension and k", settings=MUSK),
        Item("figure 2", "F-measure over the dimension", settings=MUSK),
        Item("figure 3", "F-measure over k", settings=MUSK),
        Item(
            "section 6.3",
            "that six features of Musk tell the class",
            "the paper does not say which six, nor what a significant role is",
        ),
        Item("table 3", "class values published per row and per class"),
        Item("table 4", "two of the versions that are possible then"),
        Item("table 5", "rows of Musk per class"),
        Item(
            "algorithm 1",
            "how fragments are made",
            settings="the largest contribution begins at minus infinity; the paper begins at 0, from where it never "
            "ends once all are negative",
        ),
        Item(
            "algorithm 2",
            "the dependency graph",
            "it lists which classes have a class value in common; algorithms 3 and 4 are judged on that list",
        ),
        Item("algorithm 3", "enforcement by the dependency graph"),
        Item("algorithm 4", "enforcement by selectivity", settings="delta = 0.9"),
        Item("appendix C", "how eta is counted"),
        Item("appendix D", "class values that are changed", settings=MUSK),
    ),
)
PAPERS = (SLICING, FOREGROUND, T_CLOSENESS, ROTHKO, VERTICAL)
