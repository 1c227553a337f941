"""Words for number beside and within other words, forms of values in seven languages, and what is written alike but
names nobody.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import datasets, privacy
from anoncore.table.identifiers.kinds import Mend
from anoncore.table.identifiers.mends import recoded
from anoncore.table.suggestions import suggest
from tests.shared_data import require
from tests.table.identifiers import drawn
from tests.table.identifiers.planted import tables

YEAR = 2024
RNG = np.random.default_rng(5)
NAMES = ["Weber", "Dupont", "Rossi", "Silva", "Jansen", "López", "Smith", "Braun", "Moreau", "Conti", "Costa", "Bakker"]


def letters(column: Any, name: str = "c", **options: Any) -> str:
    findings = privacy.identifiers(pd.DataFrame({name: column}, **options), year=YEAR).findings
    return "".join(one.letter for one in findings)


def twice(draw: drawn.Draw, n: int = 30) -> list[Any]:
    """Values of which each stands in two rows, so that none is found as the row's own."""
    return [draw(RNG) for _ in range(n)] * 2


@pytest.mark.parametrize(
    ("letter", "names"),
    [
        (
            "H",
            "case_nbr CaseNo pat-id Patientennr Akten-Nr FallID num_patient NoDossier id_paziente cod_paciente",
        ),
        ("I", "memberid policy_nbr VersichertenNr mitglieds_nr no_adherent num_poliza n_polizza utente_no polisnr"),
        ("J", "acct_num bank_acct cardno Konto-Nr ktonr Kunden-Nr ncompte cta_nro id_cliente n_conto rekeningnr"),
        (
            "K",
            "driver_lic_no FuehrerscheinNr ausweisnr passnr arztnr no_permis num_licencia doctor_id rpps rijbewijsnr",
        ),
        ("L", "vehicle_no veh_tag plate_no fahrzeug_id kfz_kz n_immat num_bastidor n_targa placa_veiculo kentekennr"),
        ("M", "dev_sn device_no GeraeteNr Geräte-ID serien_nr nserie no_appareil id_dispositivo n_seriale serienr"),
        ("G", "tax_no SteuerID sv_nr rentenvers_nr n_ss num_secu cod_fiscale num_contribuinte bsnnr"),
        ("R", "userid uname benutzer_id personalnr probandennr emp_no n_sujet id_usuario utilizador gebruiker_id"),
    ],
)
def test_words_for_number_name_a_kind_beside_others_and_joined_to_them(letter: str, names: str) -> None:
    codes = twice(drawn.pattern("AA######"))
    assert {name: letters(codes, name) for name in names.split()} == dict.fromkeys(names.split(), letter)


@pytest.mark.parametrize(
    ("letter", "names"),
    [
        ("D", "ph_work telnr cell_no contact_number Rufnr Handy-Nr no_tel tfno cel telefoonnr"),
        ("E", "faxno Fax-Nr num_fax"),
    ],
)
def test_words_for_number_name_telephones(letter: str, names: str) -> None:
    assert {letters(twice(drawn.pattern("0711 #######")), name) for name in names.split()} == {letter}


CALLED_BY_NAME = """nom_usuel nom_usage nom_de_famille NomJF family_name married_name halter Fahrzeughalter kfz_halter
Besitzer kontoinhaber titulaire titulaire_compte propriétaire owner vehicle_owner cardholder propietario intestatario
eigenaar inits fname last_nm pt_name Kundenname patiëntnaam nombre_completo patient physician huisarts"""


@pytest.mark.parametrize("name", CALLED_BY_NAME.split())
def test_names_of_people_are_found_where_columns_call_them_by_what_they_are_or_own(name: str) -> None:
    assert letters(NAMES * 5, name) == "A"


def test_places_are_found_under_more_names() -> None:
    names = "cnty county_nm township Ortsname Gemeindename commune_res pueblo plaatsnaam"
    assert {letters(["Ulm", "Bonn", "Trier"] * 20, name) for name in names.split()} == {"B"}


def test_numbers_of_doctors_are_licences_and_their_names_are_names() -> None:
    assert {letters(twice(drawn.nonzero("########")), name) for name in ("npi", "LANR", "n_rpps", "Arzt-Nr")} == {"K"}
    assert letters([f"Praxis Dr. {name}" for name in NAMES] * 2) == "A"
    assert letters([f"vue avec Mme {name}" for name in NAMES] * 2) == "A"
    assert letters(["cardiac MR of", "the dr button", "took 5 ms later"] * 9) == ""


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("license", ["MIT", "Apache-2.0", "GPL-3.0"]),
        ("licence class", ["B", "C1E", "AM"]),
        ("device", ["Tablet 10", "Phone 12", "Watch 3"]),
        ("version", ["1.2.3.4", "10.0.0.1", "3.4.5.6"]),
        ("firmware", [f"10.{row}.{7 * row}.{3 * row}" for row in range(60)]),
        ("n_cases", range(20, 900, 9)),
        ("no_of_cases", range(1020, 1900, 9)),
        ("n_staff", range(3, 90)),
        ("account_type_id", [1, 2, 3, 4]),
        ("epoch", range(1, 60)),
        ("ts", range(5, 900, 5)),
        ("sn_ratio", [1.5, 2.5, 3.25]),
        ("ph", [7.1, 6.9, 7.4]),
        ("iris", ["setosa", "virginica", "versicolor"]),
        ("face", ["up", "down", "side"]),
        ("owner", ["First Owner", "Second Owner", "Test Drive"]),
        ("physician", ["specialist", "none", "family"]),
        ("haltung", ["gut", "mittel", "schlecht"]),
        ("mg_dl", range(60, 300, 5)),
        ("capacity", ["1000 Liter", "2500 Liter", "5000 Liter"]),
        ("ndc", ["0093-0058-01", "0781-1506-10", "0378-0208-01"]),
        ("first_visit", ["yes", "no", "unknown"]),
    ],
)
def test_what_is_called_or_written_alike_is_not_found(name: str, column: Any) -> None:
    # Each value stands in many rows, as categories and counts do.
    assert letters(list(column) * (100 if len(column) < 10 else 4), name) == ""


@pytest.mark.parametrize(
    "draw",
    [
        drawn.one_of("12 février 2019", "1er mars 2019", "3 août 2020", "9 décembre 2021"),
        drawn.one_of("3. März 2019", "12. Jänner 2020", "4. Okt. 2021"),
        drawn.one_of("3 luglio 2019", "12 gennaio 2020", "4 ott 2021"),
        drawn.one_of("3 de enero de 2019", "12 de septiembre de 2020", "4 de março del 2021"),
        drawn.one_of("3 maart 2019", "12 augustus 2020", "4 mei 2021"),
        drawn.one_of("lundi 4 mars 2019", "Tue, 12 May 2020 10:04:00 GMT"),
        drawn.day("%d/%b/%Y:10:20:30 +0000", "2001-01-01", 9000),
        drawn.day("%d-%b-%y"),
    ],
)
def test_dates_with_names_of_months_and_of_logs(draw: drawn.Draw) -> None:
    assert letters(twice(draw)) == "C"


def test_a_date_of_a_log_keeps_its_year() -> None:
    assert recoded(pd.Series(["01/May/2023:00:08:56 +0000"]), Mend.YEAR).tolist() == ["2023"]


@pytest.mark.parametrize(("name", "parts"), [("v1_epoch", 1), ("created", 1), ("ts", 1000), ("timestamp", 10**6)])
def test_seconds_since_1970_are_dates_by_name(name: str, parts: int) -> None:
    seconds = RNG.integers(1_500_000_000, 1_700_000_000, 40) * parts
    (finding,) = privacy.identifiers(pd.DataFrame({name: np.repeat(seconds, 2)})).findings
    assert (finding.letter, finding.by, finding.mend) == ("C", "name and values", Mend.DROP)
    assert letters(seconds, "bytes") == "R"


@pytest.mark.parametrize(
    "draw",
    [
        drawn.one_of("(212) 555-8132", "415.839.1348", "617-555-4965", "2125558132", "1-212-555-0199"),
        drawn.one_of("030/12345", "089 123 456", "(0711) 12345", "0221 / 4567-0", "+49 30 12345", "030123456"),
        drawn.one_of("01-40-20-30-40", "01.40.20.30.41", "+33140203042", "0140203043"),
        drawn.one_of("612 345 678", "912 34 56 78", "612-345-679", "612345670"),
    ],
)
def test_telephone_numbers_in_mixed_forms_of_a_country(draw: drawn.Draw) -> None:
    (finding,) = privacy.identifiers(pd.DataFrame({"c": twice(draw)})).findings
    assert (finding.letter, finding.share) == ("D", 1.0)


def test_ten_digits_are_a_telephone_number_only_beside_others_or_by_name() -> None:
    digits = [f"212{row:07}" for row in range(5_550_000, 5_550_030)] * 2
    assert letters(digits) == ""
    assert letters(digits, "phone") == "D"
    assert letters([int(number) for number in digits], "phone") == "D"


@pytest.mark.parametrize(
    ("letter", "draw"),
    [
        ("L", drawn.one_of("M-MB 774", "HH S 2153", "B-AB 12", "GAP V-71")),
        ("B", drawn.one_of("66111 Saarbrücken", "70173 STUTTGART", "D-50667 Köln")),
        ("B", drawn.one_of("1012 AB Delft", "8010 Graz", "4000-123 Porto")),
        ("B", drawn.one_of("Boston, MA 02115", "Santa Fe, NM 87501-1234")),
    ],
)
def test_plates_and_places_with_their_postal_codes(letter: str, draw: drawn.Draw) -> None:
    assert letters(twice(draw)) == letter


def test_long_codes_are_codes_and_no_free_text() -> None:
    blobs = [base64.b64encode(RNG.bytes(60)).decode() for _ in range(40)]
    frame = pd.DataFrame(
        {
            "fp_tmpl": blobs,
            "gabarit_empreinte": blobs,
            "x": blobs,
            "page": [f"https://example.org/people/of/the/ward/with/a/long/path/{row}" for row in range(40)],
            "scan": [f"data:image/png;base64,{blob}" for blob in blobs],
            "told": [f"Patient {row} came on a rainy day and told about pains" for row in range(40)],
        }
    )
    result = privacy.identifiers(frame)
    assert [(one.column, one.letter) for one in result.findings] == [
        ("fp_tmpl", "P"),
        ("gabarit_empreinte", "P"),
        ("x", "R"),
        ("page", "N"),
        ("scan", "Q"),
    ]
    assert result.free_text == ("told",)


def test_codes_that_lost_the_zeros_in_front_number_the_rows() -> None:
    codes = [int(drawn.digits(RNG, 12)) for _ in range(400)]
    assert len({len(str(code)) for code in codes}) > 1
    assert letters(codes) == "R"
    assert letters([float(code) for code in codes[:-1]] + [None]) == "R"
    (suggestion,) = suggest(pd.DataFrame({"c": codes}))
    assert (suggestion.role, suggestion.reason) == ("identifier", "It has a value of its own in 100% of the rows.")
    assert letters(codes * 2) == "", "those that repeat number nothing"
    # Amounts of money: as long, but most are far below the largest.
    assert letters(np.unique(RNG.lognormal(20, 1.5, 400).astype(np.int64))) == ""
    assert letters(np.unique(RNG.integers(10**4, 7 * 10**8, 400))) == ""


def test_codes_under_a_word_of_several_meanings_may_have_several_lengths() -> None:
    numbers = [int(drawn.nonzero("#" * length)(RNG)) for length in (8, 9, 11)] * 20
    assert letters(numbers, "bank_acct") == "J"
    assert letters([number // 10**6 for number in numbers], "account") == ""


@pytest.mark.parametrize(
    ("name", "column", "expected"),
    [
        ("mass", [f"{18 + row / 7:.2f}" for row in range(60)], ""),
        ("Masse", [f"{18 + row / 7:.2f}".replace(".", ",") for row in range(60)], ""),
        ("votes", [str(row * row * 37 + 1226) for row in range(60)], ""),
        ("votes", [f"{row * row * 3700 + 1_226_231:,}" for row in range(60)], ""),
        ("lat", [f"{41 + row / 700:.6f}" for row in range(60)], "B"),
        ("zip", ["10115", "80331"] * 9, "B"),
        ("PLZ", ["1010", "8010"] * 9, "B"),
        # A zero in front says that it is a code.
        ("c", [f"{row * row:06}" for row in range(60)], "R"),
        ("c", [f"{row * row}-A" for row in range(60)], "R"),
    ],
)
def test_texts_that_are_numbers_are_judged_as_numbers(name: str, column: list[str], expected: str) -> None:
    assert letters(column, name) == expected
    assert letters(column, name, dtype="category") == expected


@pytest.mark.slow
def test_the_type_a_table_was_read_with_does_not_matter() -> None:
    for table in tables(seed=4):
        columns = [name for name in table.frame if pd.api.types.is_numeric_dtype(table.frame[name])]
        texts = table.frame.astype(dict.fromkeys(columns, str))
        expected = privacy.identifiers(table.frame, year=YEAR).findings
        found = privacy.identifiers(texts, year=YEAR).findings
        assert {(one.column, one.letter) for one in found} == {(one.column, one.letter) for one in expected}


@pytest.mark.parametrize("file", ["adult.csv", "heart.csv", "Tarragona.csv", "CASCrefmicrodata.csv", "EIA.csv"])
def test_a_public_table_read_as_text_has_at_most_one_finding(file: str) -> None:
    assert len(privacy.identifiers(pd.read_csv(require(file), dtype=str)).findings) <= 1


def test_what_cannot_be_seen_names_places_too() -> None:
    result = privacy.identifiers(datasets.table("t-closeness-table-2.7").load())
    assert any(one.startswith("towns and other places in a column that is not called so") for one in result.cannot_see)


@pytest.mark.parametrize(
    ("letter", "name", "values"),
    [
        ("L", "c", ["4821 KLM", "0734BCD", "9912-FGH", "2207XYZ"]),
        ("P", "Stimmprofil", ["9f31", "02bc", "77aa", "e410"]),
        ("M", "pumpSerial", ["KX-9981", "KX-4410", "QT-0032", "QT-7741"]),
        ("A", "guarantorName", ["Ann Lee", "Bo Katz", "Cy Diaz", "Di Roth"]),
        ("K", "permiso_conducir", ["45100122", "77103344", "90817264", "12093847"]),
    ],
)
def test_further_names_and_forms(letter: str, name: str, values: list[str]) -> None:
    assert letters(values * 15, name) == letter


@pytest.mark.parametrize("name", ["population", "Umsatz_TEUR", "nombre_habitants", "importe", "votes"])
def test_counts_and_amounts_are_nobody_s_number_though_each_row_has_its_own(name: str) -> None:
    amounts = RNG.choice(900_000, 60, replace=False) + 100_000
    assert letters(amounts, name) == ""
    assert letters(amounts, f"{name}_id") == "R"


def test_cells_of_a_map_are_nobody_s_home() -> None:
    cells = np.repeat(np.arange(35, 37.5, 0.25), 20)
    assert letters(cells, "lat") == ""
    assert letters(cells[1:], "lat") == "B", "not all degrees have equally many rows"
    assert letters(np.where(cells == 35.5, 35.51, cells), "lat") == "B", "degrees are not equally spaced"


def test_long_texts_that_repeat_are_free_text_too_and_published_sets_are_none() -> None:
    remarks = [f"Patient was seen again on ward {place % 9}, relatives informed by Mrs. Kent" for place in range(90)]
    assert privacy.identifiers(pd.DataFrame({"c": remarks})).free_text == ("c",)
    sets = [f"{{a long label of a category, another long label, number {place % 9}}}" for place in range(90)]
    assert privacy.identifiers(pd.DataFrame({"c": sets})).free_text == ()
