"""Words of the demo's grammar. Some stand for several types, so that a model has to read."""

FIRST_NAMES = (
    "Amara Bruno Chen Dalia Emre Farah Goran Hana Idris Jana Kofi Leila Milan Nadia Omar Petra "
    "Quinn Rosa Samir Tove Uma Viktor Wren Yara Zeno Sydney Austin Florence Carson Lin"
).split()
SURNAMES = (
    "Abara Brandt Castell Dorn Eklund Farkas Grau Holm Ibsen Jansen Kovac Lund Marsh Novak Okafor "
    "Pereira Quist Rahal Sato Thorne Ueda Vance Weiss Yilmaz Zoric Lincoln Houston Hamilton Lagos "
    "Verona"
).split()
CITIES = (
    "Arden Bellport Calder Dunmore Eastvale Farrow Glenmoor Harwick Istria Kestrel Lindholm Marrow "
    "Norvik Oakham Pinecrest Ravensby Stonehaven Tarn Velden Westmere Sydney Austin Florence "
    "Lincoln Houston Hamilton Lagos Verona"
).split()
CITY_PREFIXES = ("New", "Port", "San", "Upper", "North")
ORG_STEMS = (
    "Aster Borealis Cobalt Delta Ember Falcon Granite Harbor Ionic Juniper Keystone Lumen Meridian "
    "Nimbus Orchard Pioneer Quarry Redwood Summit Tidal Union Vertex Willow Zenith Lincoln Kestrel"
).split()
ORG_TAILS = ("Airways", "Bank", "Group", "Energy", "Foods", "Motors", "Labs", "Council", "Union")
AIRLINES = ("Falcon", "Borealis", "Meridian", "Nimbus", "Delta", "Zenith", "Tidal", "Willow")
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August October December".split()
PARTS_OF_DAY = ("morning", "afternoon", "evening", "night")
NUMBERS = "two three four five six seven eight nine ten twelve fifteen twenty".split()
TITLES = ("minister", "director", "mayor", "engineer", "lawyer", "coach", "chairman", "editor")
PRODUCTS = ("ferry", "bridge", "turbine", "clinic", "stadium", "pipeline", "satellite", "library")
ADJECTIVES = ("new", "costly", "long", "disputed", "modern", "late", "small", "public")
MEALS = ("breakfast", "lunch", "dinner", "a vegetarian meal")
ROOMS = ("a single room", "a double room", "a suite", "a quiet room")
CLASSES = ("economy", "business", "first")
