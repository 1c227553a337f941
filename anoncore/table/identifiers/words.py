"""Names of columns that hold identifiers, in seven languages, by the letter of their kind in the rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from anoncore.table.column_words import PEOPLE, Vocabulary

FILLERS = Vocabulary.of(
    "number numbers no num nr nbr id code key of the first last full given family middle maiden legal preferred "
    "birth contact doctor physician nurse mother father spouse child parent emergency insured owner author guardian "
    "subject fam home work private primary secondary my main admission discharge death visit appointment registration",
    de="nummer nr kennung des der die das von vor nach arzt hausarzt geb mutter vater kind privat geburt aufnahme "
    "entlassung",
    nl="nummer van het de arts moeder vader kind geboorte opname ontslag",
    fr="numero no n naiss du de la le des medecin mere pere enfant naissance admission sortie",
    es="numero n nac primer segundo de del la el medico madre padre hijo nacimiento ingreso alta",
    it="numero n di del della dello il la medico madre padre figlio nascita ricovero dimissione",
    pt="numero n de do da o a medico mae pai filho nascimento admissao alta",
)
"""Words that may stand beside a word that has several meanings without giving it another one."""


@dataclass(frozen=True)
class KindWords:
    """Words that name a kind: wherever they stand, and those that do so only without words of another matter.

    Each of `together` names the kind where all of its words stand, written apart or as one.
    """

    anywhere: Vocabulary
    alone: frozenset[str] = frozenset()
    together: tuple[frozenset[str], ...] = ()

    @classmethod
    def of(cls, anywhere: Vocabulary, alone: str = "", together: str = "") -> KindWords:
        """The words of a kind, with spaces between them and `+` between those that belong together."""
        sets = tuple(frozenset(words.split("+")) for words in together.split())
        return cls(anywhere, frozenset(alone.split()), sets)

    def name(self, words: Collection[str]) -> bool:
        """Whether the words of a column's name name the kind."""
        return self.name_plainly(words) or self.stand_alone(words)

    def name_plainly(self, words: Collection[str]) -> bool:
        """Whether they name the kind by words that mean nothing else."""
        return self.anywhere.names(words) or any(one <= set(words) for one in self.together)

    def stand_alone(self, words: Collection[str]) -> bool:
        """Whether words that have other meanings, too, stand beside nothing that gives them another one."""
        core = core_words(words) | (set(words) & self.alone)
        return bool(core) and core <= self.alone


def core_words(words: Collection[str]) -> set[str]:
    """The words of a name without those that only say whose or which number it is."""
    return {word for word in words if not FILLERS.has(word) and not PEOPLE.has(word)}


ADDRESSES = Vocabulary.of(
    "address street",
    de="adresse anschrift strasse str hausnummer hsnr wohnadresse",
    nl="adres straat huisnummer woonadres",
    fr="adresse rue",
    es="direccion calle domicilio",
    it="indirizzo",
    pt="endereco morada rua",
)
POSTAL_CODES = KindWords.of(
    Vocabulary.of(
        "zip zipcode postcode postal zcta",
        de="plz postleitzahl",
        nl="postcode",
        fr="codepostal",
        es="codigopostal",
        it="codicepostale",
        pt="cep codigopostal",
    ),
    alone="cap cp pc",
)
PLACES = KindWords.of(
    Vocabulary.of(
        "city town village county municipality precinct borough suburb neighborhood neighbourhood zcta puma geocode "
        "geohash birthplace hometown district",
        de="wohnort stadt gemeinde landkreis bezirk ortsteil stadtteil geburtsort wohnsitz",
        nl="stad woonplaats gemeente wijk buurt geboorteplaats",
        fr="ville commune arrondissement quartier departement",
        es="ciudad municipio provincia barrio localidad",
        it="citta comune provincia quartiere frazione",
        pt="cidade concelho municipio freguesia bairro distrito localidade",
    ),
    alone="place location residence ort kreis plaats lieu lugar luogo poblacion residencia residenza domicile fips",
    together="census+tract census+block block+group lieu+naissance lugar+nacimiento luogo+nascita local+nascimento",
)
COORDINATES = KindWords.of(
    Vocabulary.of(
        "lat latitude lon lng longitude coordinate coordinates gps",
        de="breitengrad langengrad koordinaten",
        nl="breedtegraad lengtegraad coordinaten",
        fr="coordonnees",
        es="latitud longitud coordenadas",
        it="latitudine longitudine coordinate",
        pt="coordenadas",
    ),
    alone="long breite",
)
DATES = KindWords.of(
    Vocabulary.of(
        "date dates dob dod birthday birthdate timestamp datetime",
        de="datum gebdatum gebdat geburtsdat geburtsdatum geburtstag aufnahmedatum entlassungsdatum sterbedatum "
        "todesdatum behandlungsdatum "
        "untersuchungsdatum",
        nl="datum gebdatum geboortedatum opnamedatum ontslagdatum overlijdensdatum",
        es="fecha fechanac",
    ),
    together="geb+dat fec+nac data+nasc data+nascita data+nascimento data+ricovero data+dimissione data+morte "
    "data+visita data+admissao "
    "data+alta data+obito data+internamento data+consulta",
)
CALENDAR_PARTS = Vocabulary.of(
    "month day weekday quarter",
    de="monat tag wochentag quartal",
    nl="maand dag kwartaal",
    fr="mois jour trimestre",
    es="mes dia trimestre",
    it="mese giorno trimestre",
    pt="mes dia trimestre",
).words
"""Words for the parts of a date that are finer than a year."""
BIRTH = Vocabulary.of(
    "birth born dob yob birthdate birthday birthyear",
    de="geb gebdatum gebdat geburt geburtsdatum geburtstag geburtsjahr geboren jahrgang",
    nl="geboorte geboortedatum geboortejaar",
    fr="naissance naiss",
    es="nacimiento nac",
    it="nascita",
    pt="nascimento nasc",
)
AGES = KindWords.of(
    Vocabulary.of(
        "age agep agegroup",
        de="alter lebensalter altersgruppe",
        nl="leeftijd leeftijdsgroep",
        es="edad",
        pt="idade",
    ),
    alone="eta",
)

KIND_WORDS: Mapping[str, KindWords] = {
    "F": KindWords.of(
        Vocabulary.of(
            "email mail emailaddress",
            de="mailadresse emailadresse",
            nl="mailadres emailadres",
            fr="courriel",
            es="correo",
        )
    ),
    "O": KindWords.of(
        Vocabulary.of(
            "ip ipv ipaddress ipaddr",
            de="ipadresse",
            nl="ipadres",
        )
    ),
    "N": KindWords.of(
        Vocabulary.of(
            "url uri website homepage",
            de="webseite",
            es="sitioweb",
            it="sitoweb",
        ),
        together="web+address web+page web+seite site+web sitio+web sito+web site+internet pagina+web",
    ),
    "L": KindWords.of(
        Vocabulary.of(
            "vin numberplate licenseplate licenceplate",
            de="kfzkennzeichen autokennzeichen nummernschild fahrgestellnummer fahrzeugnummer "
            "fahrzeugidentifikationsnummer",
            nl="kenteken chassisnummer",
            fr="immatriculation",
            es="bastidor",
            it="targa telaio",
            pt="chassi",
        ),
        alone="kennzeichen fin matricula chassis",
        together="license+plate licence+plate number+plate vehicle+id vehicle+number vehicle+identification",
    ),
    "M": KindWords.of(
        Vocabulary.of(
            "imei imsi udi serialnumber serialno deviceid macaddress",
            de="seriennummer geratenummer gerateid implantatnummer",
            nl="serienummer apparaatnummer",
        ),
        alone="mac serial device implant pacemaker",
        together="mac+address mac+adresse serial+number serial+no device+id "
        "numero+serie numero+seriale numero+dispositivo",
    ),
    "E": KindWords.of(
        Vocabulary.of(
            "fax telefax faxnumber",
            de="faxnummer",
            nl="faxnummer",
            fr="telecopie",
        )
    ),
    "D": KindWords.of(
        Vocabulary.of(
            "phone telephone mobile cellphone tel phonenumber landline",
            de="telefon telefonnummer handy handynummer mobilnummer mobiltelefon festnetz",
            nl="telefoon telefoonnummer mobiel gsm",
            fr="portable",
            es="telefono telf movil",
            it="telefono cellulare",
            pt="telefone telemovel celular",
        ),
        alone="cell",
    ),
    "I": KindWords.of(
        Vocabulary.of(
            "medicare medicaid mbi hicn beneficiary",
            de="versichertennummer versichertennr versnr krankenversicherungsnummer kvnr mitgliedsnummer",
            nl="polisnummer verzekeringsnummer",
        ),
        alone="member policy insurance",
        together="health+plan kv+nr vers+nr insurance+number insurance+id policy+number member+number member+id "
        "insurance+policy "
        "numero+assure numero+mutuelle carte+vitale tarjeta+sanitaria numero+poliza tessera+sanitaria numero+polizza "
        "cartao+saude numero+utente numero+apolice",
    ),
    "H": KindWords.of(
        Vocabulary.of(
            "mrn nhs",
            de="fallnummer patientennummer patientennr patnr aktenzeichen aufnahmenummer krankenaktennummer",
            nl="patientnummer dossiernummer",
            es="nhc",
            pt="prontuario",
        ),
        alone="chart case encounter",
        together="pat+nr medical+record hospital+number patient+number patient+no chart+number case+number "
        "record+number record+no "
        "num+patient numero+patient num+dossier numero+dossier dossier+medical historia+clinica numero+historia "
        "num+historia cartella+clinica numero+cartella "
        "processo+clinico numero+processo",
    ),
    "G": KindWords.of(
        Vocabulary.of(
            "ssn nino socialsecuritynumber",
            de="sozialversicherungsnummer svnr rentenversicherungsnummer versicherungsnummer steuernummer "
            "steueridentifikationsnummer steuerid",
            nl="bsn burgerservicenummer sofinummer",
            fr="nir",
            es="dni nie nif curp",
            it="codicefiscale",
            pt="cpf nif niss",
        ),
        alone="tin",
        together="social+security national+insurance national+id identity+number tax+id tax+number securite+sociale "
        "numero+secu n+secu seguridad+social codice+fiscale seguranca+social",
    ),
    "J": KindWords.of(
        Vocabulary.of(
            "iban creditcard cardnumber accountnumber accountno accountid",
            de="kontonummer kundennummer kreditkarte kreditkartennummer",
            nl="rekeningnummer klantnummer bankrekening",
        ),
        alone="account card rib konto compte cuenta conto conta rekening",
        together="account+number account+no account+id bank+account credit+card card+number customer+number "
        "numero+compte numero+client carte+bancaire numero+cuenta numero+cliente tarjeta+credito numero+conto "
        "carta+credito numero+conta cartao+credito",
    ),
    "K": KindWords.of(
        Vocabulary.of(
            "licence license passport npi drivers",
            de="fuhrerschein fuhrerscheinnummer ausweisnummer personalausweis reisepass reisepassnummer passnummer",
            nl="rijbewijs rijbewijsnummer paspoort paspoortnummer",
            fr="passeport",
            es="pasaporte licencia",
            it="passaporto",
            pt="passaporte",
        ),
        alone="certificate zertifikat certificat certificado certificato permis permiso patente carnet dea",
        together="permis+conduire carta+identita carta+conducao bilhete+identidade carte+identite",
    ),
    "P": KindWords.of(
        Vocabulary.of(
            "fingerprint fingerprints voiceprint palmprint faceprint retina biometric biometrics",
            de="fingerabdruck stimmabdruck biometrie biometrisch irisscan netzhaut",
            nl="vingerafdruk biometrisch biometrische",
            fr="biometrique biometriques",
            es="biometrico biometricos",
            it="biometrico biometrici",
            pt="biometria biometrico",
        ),
        alone="iris",
        together="finger+print voice+print iris+scan iris+code empreinte+digitale huella+dactilar huella+digital "
        "impronta+digitale impressao+digital empreintes+digitales",
    ),
    "Q": KindWords.of(
        Vocabulary.of(
            "photo photos photograph headshot mugshot selfie portrait faceimage",
            de="foto lichtbild passbild passfoto portrat gesichtsbild",
            nl="pasfoto",
            fr="photographie",
            es="fotografia retrato",
            it="ritratto",
        ),
        alone="image picture face bild imagen immagine imagem",
        together="face+image profile+picture",
    ),
    "A": KindWords.of(
        Vocabulary.of(
            "surname firstname lastname fullname forename givenname familyname middlename nickname patientname",
            de="nachname vorname familienname geburtsname patientenname nname vname famname",
            nl="voornaam achternaam",
            fr="prenom",
            es="apellido apellidos",
            it="cognome",
            pt="sobrenome apelido",
        ),
        alone="first last middle maiden name names naam nom nombre nome initials initialen initiales iniziali iniciais",
    ),
    "B": KindWords.of(ADDRESSES, together="adr+ligne"),
    "R": KindWords.of(
        Vocabulary.of(
            "id uid uuid guid login user username",
            de="kennung kennnummer personalnummer",
            fr="identifiant matricule",
            es="identificador",
            it="identificativo matricola",
            pt="identificador",
        )
    ),
}
"""The kinds that a name alone can tell, those whose words stand beside words of others first: an e-mail address is no
address. Dates, ages, postal codes and places are told by names and values together.
"""

IDENTIFYING_ALONE = frozenset(["name", "naam", "nom", "nombre", "nome", "plate", "matricula"])
"""Words of several meanings that people who tag a table should look at wherever they stand."""
IDENTIFYING = reduce(
    or_,
    (words.anywhere for letter, words in KIND_WORDS.items() if letter not in "PQ"),
    Vocabulary(IDENTIFYING_ALONE, frozenset()),
)
"""All words that name what names a person by itself."""
