"""Values, orders and taxonomies of the attributes that census-like tables share (the spelling is Adult's).

The groups are our own; every taxonomy has leaves of one depth, so that a whole level can be published at once, and
the leaves of education stand in its order.
"""

from __future__ import annotations

from anoncore.datasets.catalog import Taxonomy, taxonomy_values

EDUCATION: Taxonomy = {
    "School": {
        "Primary school": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
        "High school": ["9th", "10th", "11th", "12th", "HS-grad"],
    },
    "Higher education": {
        "Undergraduate": ["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors"],
        "Graduate": ["Masters", "Prof-school", "Doctorate"],
    },
}
EDUCATION_ORDER = tuple(taxonomy_values(EDUCATION))

WORKCLASS: Taxonomy = {
    "Employee": {
        "Company": ["Private"],
        "Government": ["Federal-gov", "State-gov", "Local-gov"],
    },
    "Not employed by others": {
        "Self-employed": ["Self-emp-not-inc", "Self-emp-inc"],
        "Unpaid": ["Without-pay"],
    },
}

MARITAL_STATUS: Taxonomy = {
    "Single": {
        "Never married": ["Never-married"],
        "Formerly married": ["Divorced", "Widowed"],
    },
    "Married": {
        "Spouse present": ["Married-civ-spouse", "Married-AF-spouse"],
        "Spouse not present": ["Married-spouse-absent", "Separated"],
    },
}

OCCUPATION: Taxonomy = {
    "White collar": {
        "Managers and professionals": ["Exec-managerial", "Prof-specialty", "Tech-support"],
        "Office and sales": ["Adm-clerical", "Sales"],
    },
    "Blue collar": {
        "Trades and machines": ["Craft-repair", "Machine-op-inspct", "Transport-moving"],
        "Manual and farm work": ["Handlers-cleaners", "Farming-fishing"],
    },
    "Service": {
        "Personal service": ["Other-service", "Priv-house-serv"],
        "Security": ["Protective-serv", "Armed-Forces"],
    },
}

RELATIONSHIP: Taxonomy = {
    "In a family": ["Husband", "Wife", "Own-child", "Other-relative"],
    "Outside a family": ["Not-in-family", "Unmarried"],
}
