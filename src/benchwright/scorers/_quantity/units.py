"""Units of measurement: their names, and how much one of them is in others of the same system."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from benchwright.scorers._quantity.patterns import caseless


class Unit(NamedTuple):
    dimension: str
    """What it measures."""
    system: str
    """Units of one system are exact multiples of each other."""
    size: Fraction
    """How much it is, in the smallest unit of the system."""


_TABLE = {
    "length metric": {
        "1000000": "km kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres kilómetro kilómetros chilometro chilometri quilômetro quilômetros quilómetros",
        "1000": "m metre metres meter meters metern mètre mètres metro metros metri",
        "10": "cm centimetre centimetres centimeter centimeters zentimeter zentimetern centimètre centimètres centímetro centímetros centimetro centimetri",
        "1": "mm millimetre millimetres millimeter millimeters millimètres milímetros millimetri",
    },
    "length imperial": {"63360": "mi mile miles", "36": "yd yard yards", "12": "ft foot feet", "1": "inch inches"},
    "mass metric": {
        "1000000": "kg kilogram kilograms kilogramm kilogrammes kilogramos chilogrammi chili quilogramas kilo kilos",
        "1000": "g gram grams gramm gramme grammes gramo gramos grammo grammi grama gramas",
        "1": "mg milligram milligrams milligramm milligrammes miligramos milligrammi",
    },
    "mass imperial": {"16": "lb lbs pound pounds", "1": "oz ounce ounces"},
    "speed metric": {"5": "km/h kph", "18": "m/s"},
    "speed imperial": {"1": "mph"},
    "volume metric": {
        "1000": "l litre litres liter liters litern litro litros litri",
        "10": "cl", "1": "ml millilitre millilitres milliliter milliliters mililitros millilitri",
    },
    "volume imperial": {"16": "gal gallon gallons", "2": "pint pints", "1": "cup cups"},
    "temperature celsius": {"1": "°c celsius"},
    "temperature fahrenheit": {"1": "°f fahrenheit"},
    "temperature kelvin": {"1": "kelvin kelvins"},
    "time clock": {
        "1": "s sec secs second seconds sekunden secondes segundos secondi seconden",
        "60": "min mins minute minutes minuten minutos minuti minuto minuut",
        "3600": "h hr hrs hour hours stunde stunden heure heures hora horas ora ore uur uren",
        "86400": "day days tag tage tagen jour jours día días giorno giorni dia dias dag dagen",
        "604800": "week weeks woche wochen semaine semaines semana semanas settimana settimane weken",
    },
    "time calendar": {"12": "year years jahre jahren ans años anni anos jaar", "1": "month months monate monaten mois meses mesi maanden"},
    "money cents": {"100": "$ € dollar dollars euro euros", "1": "¢ cent cents centimes céntimos centavos centesimi"},
}  # fmt: skip
UNITS = {
    name: Unit(*kind.partition(" ")[::2], Fraction(size))
    for kind, sizes in _TABLE.items()
    for size, names in sizes.items()
    for name in names.split()
}
"""Names of units in small letters."""
NAMED_UNIT = r"(?P<unit>°\s?[cf]|km/h|m/s|[$€¢]|[^\W\d_]+)(?!\w)"
_ASKED = (
    r"(?<!\w)(?:how\smany|wie\sviele?|combien\sde|cuánt[oa]s|quant[ieao]s?|hoeveel|in(?:\s(?:degrees|whole|full|ganzen))?|en|em)\s"
    + NAMED_UNIT
)


def unit_of(name: str | None) -> Unit | None:
    """The unit of a name in small letters; None if it is none."""
    return UNITS.get(name.replace(" ", "")) if name else None


def asked_unit(asked: str) -> Unit | None:
    """The one unit that a question in small letters asks for."""
    known = {unit for found in caseless(_ASKED).finditer(asked) if (unit := unit_of(found["unit"]))}
    return known.pop() if len(known) == 1 else None


def unit_at(small: str, start: int, end: int) -> Unit | None:
    """The unit of the number at a place of a plain text in small letters."""
    after = caseless(rf"[\s*~]{{0,3}}(?:degrees\s)?{NAMED_UNIT}").match(small, end)
    return unit_of(after["unit"] if after else None) or unit_of(small[start - 1 : start])
