"""Names of columns that hold identifiers, in seven languages, by the letter of their kind in the rule."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

from anoncore.table.column_words import PEOPLE, ROLES, Vocabulary, parted_words
from anoncore.table.identifiers.kind_words import KindWords, each_with

ADDRESSES = Vocabulary.of(
    "address addr street",
    de="adresse anschrift strasse str hausnummer hsnr wohnadresse",
    nl="adres straat huisnummer woonadres",
    fr="adresse rue voie",
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
        "city town village township twp county municipality precinct borough suburb neighborhood neighbourhood "
        "zcta puma geocode "
        "geohash geoid birthplace hometown district cnty",
        de="wohnort stadt gemeinde landkreis bezirk ortsteil stadtteil geburtsort gebort wohnsitz",
        nl="stad woonplaats gemeente wijk buurt geboorteplaats",
        fr="ville commune arrondissement quartier departement",
        es="ciudad municipio provincia barrio localidad pueblo comarca",
        it="citta comune provincia quartiere frazione",
        pt="cidade concelho municipio freguesia bairro distrito localidade naturalidade",
    ),
    alone="place location residence ort kreis plaats lieu lugar luogo poblacion residencia residenza domicile "
    "fips tract",
    together="census+tract census+block block+group lieu+dit lieu+naissance lugar+nacimiento luogo+nascita "
    "local+nascimento",
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
EPOCHS = Vocabulary.of(
    "epoch unix unixtime ts time timestamp date datetime created updated modified",
    de="zeit zeitstempel datum uhrzeit",
    nl="tijd tijdstip datum",
    fr="heure horodatage",
    es="fecha hora",
    it="ora",
)
"""Words that call whole numbers moments, where these may be the seconds since 1970."""
VERSIONS = Vocabulary.of("version build release firmware revision", nl="versie", it="versione", pt="versao")
"""Words of software, whose numbers have dots as IP addresses have."""
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

LOGINS = Vocabulary.of(
    "login logon user usr username uname",
    de="benutzer benutzername nutzer nutzername",
    nl="gebruiker gebruikersnaam",
    fr="utilisateur",
    es="usuario",
    pt="utilizador usuario",
)
"""Words that call a column the names under which people log in."""

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
    "O": KindWords.of(Vocabulary.of("ip ipv ipaddr", de="ipadresse", nl="ipadres"), together="ip+address"),
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
            "vin",
            de="nummernschild",
            nl="kenteken",
            fr="immatriculation",
            es="bastidor",
            it="targa telaio",
            pt="chassi",
        ),
        alone="kennzeichen kennz fin immat plaque matricula placa chassis",
        numbered=Vocabulary.of(
            "vehicle veh car plate",
            de="fahrzeug fz kfz pkw lkw fahrzeugidentifikation fahrgestell fg zulassung",
            nl="voertuig",
            fr="vehicule",
            es="vehiculo coche",
            it="veicolo",
            pt="veiculo",
        ),
        together="license+plate licence+plate number+plate vehicle+identification amtl+kz "
        f"{each_with('vehicle veh license lic', 'tag')} lic+plate car+plate "
        f"{each_with('kfz auto fahrzeug amtl amtliches', 'kennzeichen kennz')} "
        f"{each_with('placa matricula', 'veiculo vehiculo')}",
    ),
    "M": KindWords.of(
        Vocabulary.of("imei imsi meid udi sn"),
        alone="mac serial snr device implant pacemaker gerat implantat schrittmacher herzschrittmacher apparaat",
        numbered=Vocabulary.of(
            "dev ser pacer", de="serie", nl="toestel", fr="appareil serie", es="dispositivo", it="seriale dispositivo"
        ),
        together=f"mac+address mac+adresse {each_with('pump sensor meter monitor scanner pacer', 'serial')}",
    ),
    "E": KindWords.of(Vocabulary.of("fax telefax", fr="telecopie telecopieur")),
    "D": KindWords.of(
        Vocabulary.of(
            "phone telephone mobile cellphone tel landline",
            de="telefon handy mobiltelefon festnetz rufnummer rufnr",
            nl="telefoon mobiel gsm",
            fr="portable",
            es="telefono telf tfno tlf movil",
            it="telefono cellulare",
            pt="telefone telemovel celular",
        ),
        alone="cell ph mob mobil fon cel",
        numbered=Vocabulary.of("cell"),
        together=each_with("contact kontakt contacto contatto contato", "no number num nr nummer numero"),
    ),
    "I": KindWords.of(
        Vocabulary.of("medicare medicaid mbi hicn beneficiary"),
        alone="member mbr policy insurance",
        numbered=Vocabulary.of(
            "memb subscriber subscr insured ins pol",
            de="kv vers vs krankenversicherung krankenvers versicherte versicherter versicherten versicherungsschein "
            "mitglied krankenkasse",
            nl="polis verzekering verzekerde",
            fr="police assure adherent adhesion adh mutuelle mut",
            es="poliza afiliado asegurado",
            it="polizza assicurato tessera",
            pt="utente apolice",
        ),
        together="health+plan health+card insurance+policy carte+vitale tarjeta+sanitaria tessera+sanitaria "
        "cartao+saude",
    ),
    "H": KindWords.of(
        Vocabulary.of("mrn nhs", de="aktenzeichen", es="nhc", pt="prontuario"),
        alone="chart case encounter fall ipp nip iep nda",
        numbered=Vocabulary.of(
            "patient pat pt medrec admission accession episode enc",
            de="akte krankenakte aufnahme aufn",
            nl="opname zorg",
            fr="dossier sejour",
            es="paciente historia expediente",
            it="paziente cartella ricovero nosologico",
            pt="processo",
        ),
        together="medical+record record+number record+no record+nr med+rec hospital+number hospital+no "
        "dossier+medical historia+clinica hist+clinica cartella+clinica "
        "processo+clinico",
    ),
    "G": KindWords.of(
        Vocabulary.of(
            "ssn nino",
            nl="bsn",
            fr="nir",
            es="dni nie nif curp",
            pt="cpf nif niss",
        ),
        alone="tin",
        numbered=Vocabulary.of(
            "tax identity socialsecurity sin national natl nat",
            de="sozialversicherung sozvers sv rentenversicherung rentenvers rv versicherung steuer "
            "steueridentifikation",
            nl="burgerservice sofi",
            fr="secu insee",
            es="fiscal",
            it="fiscale fisc",
            pt="contribuinte",
        ),
        together="n+ss no+ss num+ss numero+ss social+security soc+sec national+insurance securite+sociale "
        "seguridad+social codice+fiscale cod+fisc seguranca+social",
    ),
    "J": KindWords.of(
        Vocabulary.of("iban", de="kreditkarte", nl="bankrekening"),
        alone="account acct card rib konto kto compte cpte cuenta cta conta conto rekening",
        numbered=Vocabulary.of(
            "customer cust client contract loan cc",
            de="kunde kd karte vertrag debitor kreditor darlehen",
            nl="klant rek contract",
            fr="client contrat cont carte cb",
            es="cliente tarjeta contrato prestamo",
            it="cliente carta contratto",
            pt="cliente cartao contrato",
        ),
        together="bank+account bank+acct credit+card carte+bancaire tarjeta+credito carta+credito cartao+credito",
    ),
    "K": KindWords.of(
        Vocabulary.of(
            "licence license passport npi drivers lanr rpps adeli",
            de="fuhrerschein personalausweis reisepass",
            nl="rijbewijs paspoort",
            fr="passeport",
            es="pasaporte licencia",
            it="passaporto",
            pt="passaporte",
        ),
        alone="certificate zertifikat certificat certificado certificato permis permiso patente carnet dea "
        "physician doctor "
        "arzt arts medecin medico",
        numbered=Vocabulary.of(
            "driver dl lic fs pass cert permit pp idcard",
            de="pass ausweis approbation",
            fr="cni",
            es="colegiado documento",
            it="documento",
            pt="documento",
        ),
        together="drv+lic driver+lic id+card permis+conduire permiso+conducir permiso+conduccion "
        "carta+identita carta+conducao bilhete+identidade "
        "carte+identite",
    ),
    "P": KindWords.of(
        Vocabulary.of(
            "fingerprint fingerprints voiceprint palmprint faceprint retina biometric biometrics",
            de="fingerabdruck stimmabdruck stimmprofil biometrie biometrisch irisscan netzhaut",
            nl="vingerafdruk biometrisch biometrische",
            fr="biometrique biometriques",
            es="biometrico biometricos",
            it="biometrico biometrici",
            pt="biometria biometrico",
        ),
        alone="iris",
        together="finger+print voice+print empreinte+digitale empreintes+digitales empr+dig huella+dactilar "
        "huella+digital impronta+digitale impressao+digital "
        + each_with(
            "fp finger iris face voice gait empreinte visage voix huella rostro impronta volto gesicht",
            "template tmpl gabarit plantilla modello vector embedding signature sig scan code",
        ),
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
            "surname firstname fullname forename givenname familyname middlename nickname fname lname mname",
            de="nachname vorname familienname geburtsname rufname ehename madchenname zuname nname vname "
            "famname gebname nachn vorn",
            nl="voornaam achternaam roepnaam meisjesnaam voorletters tussenvoegsel voornm achternm",
            fr="prenom prenoms",
            es="apellido apellidos",
            it="cognome nominativo",
            pt="sobrenome apelido",
        ),
        alone="first last middle maiden nm name names naam nom nombre nome init initials inits initialen "
        "initiales iniziali "
        "iniciais",
        together="name+kin next+kin guarantor+name "
        + each_with(
            "name naam nom nombre nome",
            "usuel usage famille marital epouse jf famiglia familia familie patronymique married usual former casada "
            "solteira nubile",
        )
        + " "
        + each_with(
            "vehicle veh car kfz acct account card compte vehicule cuenta vehiculo conto veicolo conta veiculo",
            "owner holder halter inhaber titulaire proprietaire titular propietario intestatario proprietario",
        ),
    ),
    "B": KindWords.of(ADDRESSES, together="adr+ligne"),
    "R": KindWords.of(
        Vocabulary.of(
            "id uid uuid guid pid",
            de="kennung kennnummer",
            fr="identifiant matricule",
            es="identificador",
            it="identificativo matricola",
            pt="identificador",
        )
        | LOGINS,
        numbered=Vocabulary.of(
            "badge staff subject subj study emp record rec",
            de="personal pers mitarb matrikel matr",
            nl="personeel",
            fr="sujet",
            es="sujeto",
            it="soggetto",
        ),
    ),
}
"""The kinds that a name alone can tell, those whose words stand beside words of others first: an e-mail address is no
address. Dates, ages, postal codes and places are told by names and values together.
"""

NAMES = frozenset(["name", "naam", "nom", "nombre", "nome"])
IDENTIFYING_ALONE = NAMES | {"plate", "matricula"}
"""Words of several meanings that people who tag a table should look at wherever they stand."""
STEMS = reduce(
    or_,
    (kind.anywhere | kind.numbered | Vocabulary(kind.alone, frozenset()) for kind in (*KIND_WORDS.values(), PLACES)),
    PEOPLE | ROLES,
)
"""Words from which words for their number and their name are parted."""


def identifier_words(name: str) -> frozenset[str]:
    """The words of a column's name, with numbers and names parted from what they number and name."""
    return frozenset(parted_words(name, STEMS))


def sounds_identifying(name: str) -> bool:
    """Whether a column is called what names a person by itself."""
    words = identifier_words(name)
    plain = any(kind.name_plainly(words) for letter, kind in KIND_WORDS.items() if letter not in "PQ")
    return plain or not IDENTIFYING_ALONE.isdisjoint(words)
