"""Words in the names of columns, in seven languages, by what they tell about the people in a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

SHORTEST_STEM = 6
"""Letters from which on a word of a language that joins words also counts at the end of a longer one."""


@dataclass(frozen=True)
class Vocabulary:
    """Words without accents, in small letters; `joined` are those of German and Dutch, where a diagnosis on admission
    is an *Aufnahmediagnose*.
    """

    words: frozenset[str]
    joined: frozenset[str]

    @classmethod
    def of(
        cls, english: str, *, de: str = "", nl: str = "", fr: str = "", es: str = "", it: str = "", pt: str = ""
    ) -> Vocabulary:
        """A vocabulary from lists of words with spaces between them."""
        joined = frozenset(f"{de} {nl}".split())
        return cls(joined | frozenset(f"{english} {fr} {es} {it} {pt}".split()), joined)

    def has(self, word: str) -> bool:
        """Whether it is one of the words, or ends with one that can be the last part of a longer word."""
        return word in self.words or any(
            word.endswith(end)
            for start in range(1, len(word) - SHORTEST_STEM + 1)
            if (end := word[start:]) in self.joined
        )

    def names(self, words: Collection[str]) -> bool:
        """Whether one of the words of a name is among them."""
        return any(map(self.has, words))

    def __or__(self, other: Vocabulary) -> Vocabulary:
        """The words of both."""
        return Vocabulary(self.words | other.words, self.joined | other.joined)


def name_words(name: str) -> set[str]:
    """The words of a column's name in small letters without accents, also where capitals part them: `zipCode` is `zip`
    and `code`.
    """
    plain = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain)
    return set(re.split(r"[^a-z]+", apart.casefold())) - {""}


PEOPLE = Vocabulary.of(
    "patient person people client customer member employee participant respondent pupil student",
    de="patient patientin person kunde kundin mitglied mitarbeiter mitarbeiterin teilnehmer versicherter schueler",
    nl="persoon klant lid medewerker deelnemer leerling",
    fr="personne membre employe eleve etudiant",
    es="paciente persona cliente miembro empleado participante alumno estudiante",
    it="paziente socio dipendente partecipante studente",
    pt="pessoa membro empregado aluno",
)
"""Names of columns that say whose row it is, where a name is such a word alone: a patient's age is no patient."""
SENSITIVE = Vocabulary.of(
    "diagnosis diagnose icd disease illness symptom condition treatment therapy medication drug drugs hiv aids "
    "disability mental pregnancy genetic income salary wage earnings wealth debt credit loan religion belief "
    "political politics party vote sexual orientation crime criminal offense offence conviction arrest abuse "
    "addiction insurance",
    de="diagnose krankheit erkrankung symptom befund behandlung therapie medikament medikation arzneimittel "
    "behinderung schwangerschaft einkommen gehalt lohn verdienst vermogen schulden kredit religion konfession glaube "
    "partei orientierung straftat vorstrafe verurteilung sucht abhangigkeit versicherung",
    nl="ziekte aandoening symptoom behandeling medicijn medicatie handicap zwangerschap inkomen salaris loon "
    "vermogen schuld krediet religie geloof politiek partij misdrijf veroordeling verslaving verzekering",
    fr="diagnostic maladie symptome traitement medicament handicap grossesse revenu salaire dette croyance politique "
    "parti delit condamnation dependance assurance",
    es="diagnostico enfermedad sintoma tratamiento terapia medicamento discapacidad embarazo ingresos salario sueldo "
    "deuda credito creencia politica partido voto orientacion delito condena adiccion seguro",
    it="diagnosi malattia sintomo trattamento farmaco disabilita gravidanza reddito stipendio debito religione credo "
    "partito orientamento reato condanna dipendenza assicurazione",
    pt="doenca tratamento deficiencia gravidez renda rendimento divida religiao crenca orientacao condenacao "
    "dependencia",
)
KNOWABLE = Vocabulary.of(
    "age birth birthday birthdate birthyear dob born sex gender zip zipcode postcode postal city town village county "
    "state country region district nationality citizenship origin race ethnicity ethnic marital married marriage "
    "family relationship household children education degree school university occupation job profession work "
    "workclass employer employment industry language height weight",
    de="alter lebensalter altersgruppe geburt geburtsdatum geburtstag geburtsjahr geburtsort geboren geschlecht plz "
    "postleitzahl ort wohnort stadt gemeinde kreis landkreis bundesland land region bezirk nationalitat "
    "staatsangehorigkeit staatsburgerschaft herkunft ethnie familienstand verheiratet haushalt kinder kinderzahl "
    "bildung abschluss schulabschluss schule universitat beruf tatigkeit arbeit arbeitgeber branche sprache "
    "muttersprache grosse korpergrosse gewicht aufnahmedatum entlassungsdatum",
    nl="leeftijd geboorte geboortedatum geboortejaar geboorteplaats geslacht postcode plaats woonplaats stad "
    "gemeente provincie land regio nationaliteit herkomst burgerlijke gezin huishouden kinderen opleiding school "
    "universiteit beroep functie werk werkgever sector taal lengte gewicht",
    fr="naissance sexe genre ville commune departement pays nationalite citoyennete origine matrimonial famille "
    "menage enfants diplome ecole universite metier emploi travail employeur secteur langue taille poids",
    es="edad nacimiento sexo genero ciudad municipio provincia pais nacionalidad ciudadania origen raza etnia civil "
    "familia hogar hijos educacion estudios escuela universidad profesion ocupacion empleo trabajo empleador idioma "
    "altura estatura peso",
    it="eta nascita sesso genere cap citta comune paese regione nazionalita cittadinanza civile famiglia figli "
    "istruzione scuola universita professione occupazione lavoro impiego settore lingua altezza",
    pt="idade nascimento cep cidade concelho distrito estado regiao nacionalidade cidadania origem raca filhos "
    "educacao escolaridade escola universidade profissao ocupacao emprego trabalho setor altura",
)
OUTCOME = Vocabulary.of(
    "target outcome output label result response prognosis",
    de="ergebnis zielgrosse prognose",
    nl="uitkomst resultaat",
    fr="resultat pronostic",
    es="resultado pronostico",
    it="esito risultato prognosi",
    pt="desfecho",
)
"""Names of what tables made for prediction predict of people, which is rarely harmless."""
FREE_TEXT = Vocabulary.of(
    "comment comments remark remarks note notes freetext memo",
    de="bemerkung bemerkungen kommentar anmerkung anmerkungen notiz notizen freitext",
    nl="opmerking opmerkingen toelichting",
    fr="commentaire commentaires remarque remarques",
    es="comentario comentarios observacion observaciones notas",
    it="commento commenti osservazioni",
    pt="comentarios observacao observacoes",
)
