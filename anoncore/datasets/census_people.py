"""Figures of the census generator: sex, age, education, marital status, race, country, diagnosis.

All figures are percentages made up for this table; their shape follows published marginals of working populations.
"""

from __future__ import annotations

import numpy as np

from anoncore.datasets.attributes import EDUCATION_ORDER
from anoncore.datasets.catalog import Taxonomy, taxonomy_values
from anoncore.datasets.network import ConditionalTable, Figures, percentages

SEX = ("Male", "Female")
AGES = np.arange(17, 91)
AGE_BAND_STARTS = (17, 19, 25, 35, 50, 65)
AGE_BANDS = np.searchsorted(AGE_BAND_STARTS, AGES, side="right") - 1

_AGE_KNOTS = (17, 19, 23, 30, 38, 45, 52, 60, 66, 75, 90)
_AGE_DENSITY = (
    (0.9, 1.7, 2.4, 2.9, 3.0, 2.7, 2.0, 1.3, 0.7, 0.25, 0.03),
    (1.1, 2.1, 2.7, 2.6, 2.6, 2.5, 1.9, 1.1, 0.6, 0.22, 0.03),
)

# One row per age band, one figure per level of education from Preschool to Doctorate.
_EDUCATION = (
    (0.1, 0.1, 0.3, 1.5, 5.0, 16.0, 34.0, 17.0, 18.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (0.1, 0.3, 0.8, 1.2, 2.0, 2.6, 4.0, 2.5, 34.0, 34.0, 3.5, 3.5, 11.0, 0.5, 0.0, 0.0),
    (0.1, 0.4, 0.9, 1.0, 1.3, 1.8, 2.6, 1.4, 33.0, 20.0, 5.0, 4.2, 21.0, 4.8, 1.5, 1.0),
    (0.1, 0.5, 1.0, 1.2, 1.3, 1.9, 2.2, 1.1, 31.5, 19.0, 5.2, 4.0, 18.5, 8.0, 2.5, 2.0),
    (0.3, 0.8, 1.6, 3.2, 2.1, 3.0, 2.7, 1.0, 34.0, 17.0, 3.6, 2.7, 15.0, 8.5, 2.5, 2.0),
    (0.5, 1.6, 2.6, 8.4, 3.4, 4.4, 2.8, 0.8, 33.0, 16.0, 2.4, 1.6, 12.0, 6.0, 2.5, 2.0),
)

MARITAL_VALUES = (
    "Never-married",
    "Married-civ-spouse",
    "Married-AF-spouse",
    "Married-spouse-absent",
    "Separated",
    "Divorced",
    "Widowed",
)
# Men, then women; one row per age band.
_MARITAL = (
    (
        (98.4, 1.0, 0.1, 0.2, 0.2, 0.1, 0.0),
        (84.0, 12.0, 0.2, 0.9, 1.1, 1.7, 0.1),
        (41.0, 46.0, 0.1, 1.4, 2.8, 8.5, 0.2),
        (15.0, 62.0, 0.1, 1.5, 3.4, 17.4, 0.6),
        (6.5, 71.0, 0.1, 1.4, 2.7, 16.0, 2.3),
        (4.5, 72.0, 0.1, 1.4, 1.5, 8.5, 12.0),
    ),
    (
        (96.0, 2.6, 0.2, 0.5, 0.5, 0.2, 0.0),
        (76.0, 16.5, 0.4, 1.3, 2.5, 3.1, 0.2),
        (34.0, 43.0, 0.2, 1.8, 5.5, 14.7, 0.8),
        (15.0, 46.0, 0.1, 1.6, 6.2, 27.5, 3.6),
        (7.5, 45.0, 0.1, 1.6, 4.0, 27.3, 14.5),
        (5.5, 30.0, 0.1, 1.4, 1.5, 14.5, 47.0),
    ),
)

RACE = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
_RACE = (78.0, 11.0, 6.0, 1.5, 3.5)

COUNTRY: Taxonomy = {
    "Americas": {
        "North America": ["United-States", "Canada", "Mexico"],
        "Central America": ["El-Salvador", "Guatemala"],
        "Caribbean": ["Cuba", "Haiti", "Jamaica", "Puerto-Rico"],
        "South America": ["Colombia", "Peru"],
    },
    "Europe": {"Western Europe": ["England", "Germany", "Italy"], "Eastern Europe": ["Poland"]},
    "Asia": {"East Asia": ["China"], "South Asia": ["India"], "South-east Asia": ["Philippines", "Vietnam"]},
    "Africa": {"West Africa": ["Nigeria"]},
}
COUNTRY_VALUES = tuple(taxonomy_values(COUNTRY))
# One row per race, one figure per country in the order of the taxonomy.
_COUNTRY = (
    (93.0, 0.6, 2.2, 0.3, 0.2, 0.4, 0.0, 0.0, 0.4, 0.2, 0.1, 0.5, 0.7, 0.5, 0.4, 0.0, 0.3, 0.1, 0.0, 0.1),
    (91.0, 0.1, 0.1, 0.0, 0.0, 0.3, 2.2, 2.9, 0.5, 0.2, 0.0, 0.3, 0.3, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 2.0),
    (31.0, 0.3, 0.1, 0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.1, 0.3, 0.1, 0.0, 0.0, 18.0, 17.0, 20.0, 13.0, 0.0),
    (95.0, 0.7, 2.6, 0.3, 0.5, 0.0, 0.0, 0.0, 0.2, 0.2, 0.4, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    (46.0, 0.2, 22.0, 6.0, 4.0, 2.0, 0.3, 0.5, 9.0, 5.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0),
)

DIAGNOSIS: Taxonomy = {
    "Chest and circulation": {
        "Respiratory": ["Influenza", "Pneumonia", "Bronchitis", "Asthma"],
        "Circulatory": ["Hypertension", "Heart disease", "Stroke"],
    },
    "Digestion and metabolism": {"Digestive": ["Gastritis", "Gastric ulcer"], "Metabolic": ["Diabetes"]},
    "Other conditions": {
        "Joints": ["Arthritis"],
        "Mind and nerves": ["Depression", "Migraine"],
        "Tumours": ["Cancer"],
    },
}
DIAGNOSIS_VALUES = tuple(taxonomy_values(DIAGNOSIS))
# Men, then women; one row per age band, one figure per diagnosis in the order of the taxonomy.
_DIAGNOSIS = (
    (
        (30.0, 4.0, 12.0, 24.0, 1.0, 0.5, 0.1, 7.0, 1.0, 3.0, 0.5, 10.0, 6.4, 0.5),
        (28.0, 4.0, 12.0, 19.0, 2.5, 0.8, 0.1, 9.0, 2.0, 3.0, 1.0, 11.0, 6.6, 1.0),
        (22.0, 4.0, 11.0, 13.0, 7.0, 2.0, 0.3, 11.0, 4.0, 5.0, 2.7, 11.0, 5.5, 1.5),
        (15.0, 4.0, 9.0, 7.5, 16.0, 6.5, 1.0, 10.5, 5.0, 9.0, 6.0, 5.5, 2.5, 2.5),
        (8.0, 4.5, 8.0, 4.0, 22.0, 14.0, 3.0, 6.5, 4.0, 12.5, 8.0, 2.0, 0.5, 3.0),
        (5.0, 7.5, 7.0, 2.5, 20.0, 20.5, 7.0, 3.5, 2.5, 11.0, 7.5, 1.0, 0.2, 4.8),
    ),
    (
        (27.0, 3.5, 11.0, 20.0, 0.8, 0.3, 0.1, 7.0, 0.8, 2.5, 0.8, 14.0, 11.7, 0.5),
        (24.0, 3.5, 10.0, 16.0, 1.8, 0.5, 0.1, 8.5, 1.4, 2.8, 1.4, 15.5, 13.0, 1.5),
        (19.0, 3.5, 9.5, 11.5, 4.5, 1.0, 0.3, 9.5, 2.5, 4.5, 3.7, 15.5, 12.5, 2.5),
        (13.0, 3.5, 8.5, 8.0, 12.0, 3.0, 0.9, 9.0, 3.0, 7.5, 8.6, 11.5, 7.0, 4.5),
        (8.0, 4.0, 8.0, 5.0, 20.0, 7.5, 2.5, 6.0, 2.5, 11.0, 13.5, 5.0, 1.5, 5.5),
        (5.0, 7.0, 7.0, 3.0, 21.5, 14.0, 7.0, 3.5, 1.8, 10.5, 12.5, 1.7, 0.5, 5.0),
    ),
)


def _age_given_sex() -> Figures:
    """P(age | sex), shape (2, 74): straight lines between the knots."""
    density = np.array([np.interp(AGES, _AGE_KNOTS, row) for row in _AGE_DENSITY])
    return np.asarray(density / density.sum(axis=1, keepdims=True))


def people_tables() -> list[ConditionalTable]:
    """The tables of the attributes that do not depend on work, parents first."""
    return [
        ConditionalTable("sex", (), SEX, percentages((54.0, 46.0))),
        ConditionalTable("age", ("sex",), tuple(AGES.tolist()), _age_given_sex()),
        ConditionalTable("education", ("age-band",), EDUCATION_ORDER, percentages(_EDUCATION)),
        ConditionalTable("marital-status", ("sex", "age-band"), MARITAL_VALUES, percentages(_MARITAL)),
        ConditionalTable("race", (), RACE, percentages(_RACE)),
        ConditionalTable("native-country", ("race",), COUNTRY_VALUES, percentages(_COUNTRY)),
        ConditionalTable("diagnosis", ("sex", "age-band"), DIAGNOSIS_VALUES, percentages(_DIAGNOSIS)),
    ]
