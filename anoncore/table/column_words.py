"""Words in the names of columns, in seven languages, by what they tell about the people in a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

SHORTEST_STEM = 6
"""Letters from which on a word of a language that joins words also counts at the end of a longer one."""
NUMBER = frozenset(["id", "uid", "number", "no", "nr", "nbr", "nro", "kz", "nummer", "numero", "kennung"])
"""Words that beside the name of a thing say that a column numbers it: a `case_no`, a `Fall-Nr`."""
MAY_NUMBER = frozenset(["n", "num", "code", "cod", "codigo", "codice", "key"])
"""Words that do so, too, but may also say how many or which kind."""
NUMBER_WORDS = NUMBER | MAY_NUMBER | frozenset(["ids", "numbers"])
"""Words that make the name of a person that of a number: a `patient_nr`."""
_ENDINGS = ("kennung", "nummer", "number", "name", "naam", "nbr", "num", "nro", "nr", "id", "no", "kz", "sn")
_JOINING = frozenset(["id", "uid", "nr", "kz", "nummer", "kennung"])
"""Words for number beside which words of German and Dutch keep the letters that join them to it: `Kunden-Nr`."""
_BEGINNINGS = ("numero", "num", "no", "nr", "n")
_LINKS = ("", "s", "n", "e", "en", "es")
"""Letters by which German and Dutch join words: a *Patient-en-nummer*."""


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
            part in self.joined or any(part[start:] in self.joined for start in range(1, len(part) - SHORTEST_STEM + 1))
            for part in {word, _without_umlauts(word)}
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


def parted_words(name: str, stems: Vocabulary) -> set[str]:
    """The words of a column's name, where one that joins a stem and a word for its number or name counts as the two:
    `Fallnummer` is `fall` and `nummer`, `acctno` is `acct` and `no`, and `ncompte` is `n` and `compte`.
    """
    words = name_words(name)
    endings = _ENDINGS if _JOINING.isdisjoint(words) else (*_ENDINGS, "")
    return {part for word in words for part in _parted(word, stems, endings)}


def _parted(word: str, stems: Vocabulary, endings: Sequence[str]) -> tuple[str, ...]:
    for whole in (_without_umlauts(word), word):
        if whole in stems.words:
            return (whole,)
        for ending, link in product(filter(whole.endswith, endings), _LINKS):
            stem = whole.removesuffix(ending)
            if stem.endswith(link) and stems.has(stem.removesuffix(link)):
                return (stem.removesuffix(link), ending) if ending else (stem.removesuffix(link),)
        for beginning in filter(whole.startswith, _BEGINNINGS):
            if whole.removeprefix(beginning) in stems.words:
                return beginning, whole.removeprefix(beginning)
    return (word,)


def _without_umlauts(word: str) -> str:
    """A word as it is in the lists where its umlauts are written as two letters: `geraet` is `gerat`."""
    return word.replace("ae", "a").replace("oe", "o").replace("ue", "u")


def says_whose_row(name: str) -> bool:
    """Whether a column's name says whose row it is, with or without a word for number: `patient`, `Patientennr`."""
    words = parted_words(name, PEOPLE) - NUMBER_WORDS
    return bool(words) and all(map(PEOPLE.has, words))


PEOPLE = Vocabulary.of(
    "patient person people client customer member employee participant respondent pupil student owner holder "
    "cardholder policyholder pid",
    de="patient patientin person kunde kundin mitglied mitarbeiter mitarbeiterin teilnehmer versicherter schuler "
    "proband halter besitzer eigentumer inhaber ansprechpartner",
    nl="persoon klant lid medewerker deelnemer leerling eigenaar rekeninghouder",
    fr="personne membre employe eleve etudiant titulaire proprietaire",
    es="paciente persona cliente miembro empleado participante alumno estudiante titular propietario",
    it="paziente socio dipendente partecipante studente intestatario proprietario",
    pt="pessoa membro empregado aluno titular proprietario utente funcionario",
)
"""Names of columns that say whose row it is, where a name is such a word alone: a patient's age is no patient."""
ROLES = Vocabulary.of(
    "physician doctor dr md attending referring surgeon nurse clinician therapist witness guardian signatory",
    de="arzt hausarzt behandler zuweiser einsender betreuer zeuge vormund",
    nl="arts huisarts behandelaar voogd getuige",
    fr="medecin traitant infirmier tuteur temoin",
    es="medico enfermero tutor testigo",
    it="medico infermiere tutore testimone",
    pt="medico enfermeiro tutor testemunha",
)
"""Names of columns that say who treated or stood by those whose rows they are."""
# The last English words of the next two are what census bureaus call them in the American Community Survey.
SENSITIVE = Vocabulary.of(
    "diagnosis diagnose icd disease illness symptom condition treatment therapy medication drug drugs hiv aids "
    "disability mental pregnancy genetic income salary wage earnings wealth debt credit loan religion belief "
    "political politics party vote sexual orientation crime criminal offense offence conviction arrest abuse "
    "addiction insurance grade grades gpa pincp wagp povpip",
    de="diagnose krankheit erkrankung symptom befund behandlung therapie medikament medikation arzneimittel "
    "behinderung schwangerschaft einkommen gehalt lohn verdienst vermogen schulden kredit religion konfession glaube "
    "partei orientierung zensur schulnote endnote straftat vorstrafe verurteilung sucht abhangigkeit versicherung",
    nl="ziekte aandoening symptoom behandeling medicijn medicatie handicap zwangerschap inkomen salaris loon "
    "vermogen schuld krediet religie geloof politiek partij misdrijf veroordeling verslaving verzekering",
    fr="diagnostic maladie symptome traitement medicament handicap grossesse revenu salaire dette croyance politique "
    "parti delit condamnation dependance assurance",
    es="diagnostico enfermedad sintoma tratamiento terapia medicamento discapacidad embarazo ingresos salario sueldo "
    "calificacion nota deuda credito creencia politica partido voto orientacion delito condena adiccion seguro",
    it="diagnosi malattia sintomo trattamento farmaco disabilita gravidanza reddito stipendio debito religione credo "
    "partito orientamento reato condanna dipendenza assicurazione",
    pt="doenca tratamento deficiencia gravidez renda rendimento divida religiao crenca orientacao condenacao "
    "dependencia",
)
KNOWABLE = Vocabulary.of(
    "age birth birthday birthdate birthyear dob born sex gender zip zipcode postcode postal city town village county "
    "state country region district nationality citizenship origin race ethnicity ethnic marital married marriage "
    "family relationship household children education degree school university occupation job profession work "
    "workclass employer employment industry language height weight agep puma rac hisp msp schl occp indp",
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
SURVEY_WEIGHT = Vocabulary.of(
    "fnlwgt finalwgt finalwt perwt pwgtp pwgt pwt hhwt hhwgt wgtp hwgt pweight fweight aweight iweight hweight "
    "sampwgt sampleweight asecwt wtfinl earnwt wtss wtssall wtmec wtint weighting",
    de="gewichtung gewichtungsfaktor hochrechnungsfaktor personengewicht haushaltsgewicht designgewicht",
    nl="weegfactor wegingsfactor ophoogfactor",
    fr="ponderation",
    es="ponderacion ponderador",
    it="ponderazione",
    pt="ponderacao ponderador",
)
"""What surveys call for how many people a row stands, such as Adult, the American Community Survey and IPUMS."""
WEIGHT = Vocabulary.of("weight weights wt wgt gewicht poids peso")
"""Names of weights of bodies and of rows, as words of their own: a *Geburtsgewicht* is one of bodies."""
SURVEY = Vocabulary.of(
    "survey sample sampling design base replicate person household population expansion respondent",
    de="umfrage stichprobe haushalt befragung",
    nl="enquete steekproef huishouden",
    fr="enquete sondage echantillon menage",
    es="encuesta muestra hogar",
    it="indagine campione",
    pt="inquerito amostra",
)
"""Words that make a weight beside them one of a survey, and not of a body."""
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
QUANTITIES = Vocabulary.of(
    "population inhabitants count total sum revenue sales turnover price cost costs balance votes",
    de="umsatz betrag summe anzahl einwohner bevolkerung preis kosten stimmen",
    nl="omzet bedrag totaal aantal inwoners bevolking prijs stemmen",
    fr="population habitants montant somme nombre prix cout ventes",
    es="poblacion habitantes importe suma cantidad precio coste ventas votos",
    it="popolazione abitanti importo somma quantita prezzo costo vendite voti",
    pt="populacao habitantes montante soma quantidade preco custo vendas votos",
)
"""Names of columns of counts and amounts, which may differ in every row and are nobody's number."""
