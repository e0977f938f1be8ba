"""Sentence patterns of the demo's grammar.

A pattern is a line of words. ``v=bought/VERB/root`` names a word, gives its part of speech and its
relation; ``the/DET/det>b`` hangs a word on the word named b; ``a={origin:PLACE}/nmod>f`` puts a
phrase of type PLACE there and names its head word a; the text before the colon is its slot, empty
where the phrase is no slot. A type with a ``-`` (``{:-TITLE}``) is no entity. Types that are said
in one way only (``DAY``, ``HOUR``) are entities of a wider one (``DATE``, ``TIME``).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Template:
    """A pattern, the class of its sentences, and the relations between its phrases."""

    label: str
    pattern: str
    relations: tuple[tuple[str, str, str], ...] = ()
    weight: float = 1.0  # how often it is drawn: news and questions have a long tail


NEWS = (
    Template(
        "business",
        "a={:ORG}/nsubj>v v=bought/VERB/root b={:ORG}/obj>v for/ADP/case>m m={:MONEY}/obl>v "
        "on/ADP/case>d d={:DAY}/obl>v ./PUNCT/punct>v",
        (("a", "b", "owns"),),
    ),
    Template(
        "business",
        "a={:ORG}/nsubj>v will/AUX/aux>v v=open/VERB/root an/DET/det>o o=office/NOUN/obj>v "
        "in/ADP/case>p p={:PLACE}/obl>v ,/PUNCT/punct>s s=said/VERB/parataxis>v "
        "w={:PERSON}/nsubj>s ./PUNCT/punct>v",
        (("a", "p", "located in"), ("w", "a", "works for")),
    ),
    Template(
        "business",
        "n=shares/NOUN/nsubj>v of/ADP/case>a a={:ORG}/nmod>n v=fell/VERB/root on/ADP/case>d "
        "d={:DAY}/obl>v after/SCONJ/mark>l w={:PERSON}/nsubj>l l=left/VERB/advcl>v "
        "for/ADP/case>b b={:ORG}/obl>l ./PUNCT/punct>v",
        (("w", "b", "works for"),),
    ),
    Template(
        "business",
        "w={:PERSON}/nsubj>v ,/PUNCT/punct>t t={:-TITLE}/appos>w of/ADP/case>a a={:ORG}/nmod>t "
        ",/PUNCT/punct>w v=sold/VERB/root b={:PRODUCT}/obj>v to/ADP/case>c c={:ORG}/obl>v "
        "./PUNCT/punct>v",
        (("w", "a", "works for"), ("c", "b", "owns")),
    ),
    Template(
        "politics",
        "t={:-TITLE}/nsubj>v w={:PERSON}/appos>t v=met/VERB/root o={:PERSON}/obj>v in/ADP/case>p "
        "p={:PLACE}/obl>v on/ADP/case>d d={:DAY}/obl>v ./PUNCT/punct>v",
        (("w", "p", "was in"), ("o", "p", "was in")),
    ),
    Template(
        "politics",
        "the/DET/det>a a={:COUNCIL}/nsubj>v v=voted/VERB/root to/PART/mark>c c=close/VERB/xcomp>v "
        "b={:PRODUCT}/obj>c in/ADP/case>p p={:PLACE}/nmod>b ./PUNCT/punct>v",
        (("b", "p", "located in"),),
    ),
    Template(
        "politics",
        "w={:PERSON}/nsubj>v ,/PUNCT/punct>n a/DET/det>n n=native/NOUN/appos>w of/ADP/case>p "
        "p={:PLACE}/nmod>n ,/PUNCT/punct>w v=joined/VERB/root a={:ORG}/obj>v in/ADP/case>d "
        "d={:MONTH}/obl>v ./PUNCT/punct>v",
        (("w", "p", "born in"), ("w", "a", "works for")),
    ),
    Template(
        "politics",
        "n=voters/NOUN/nsubj>v in/ADP/case>p p={:PLACE}/nmod>n v=chose/VERB/root w={:PERSON}/obj>v "
        "over/ADP/case>o o={:PERSON}/obl>v on/ADP/case>d d={:DAY}/obl>v ./PUNCT/punct>v",
    ),
    Template(
        "accident",
        "b={:PRODUCT}/nsubj>v near/ADP/case>p p={:PLACE}/nmod>b v=closed/VERB/root "
        "after/ADP/case>s a/DET/det>s s=storm/NOUN/obl>v ,/PUNCT/punct>r and/CCONJ/cc>r "
        "w={:PERSON}/nsubj:pass>r was/AUX/aux:pass>r r=rescued/VERB/conj>v ./PUNCT/punct>v",
        (("b", "p", "located in"),),
    ),
    Template(
        "accident",
        "a/DET/det>n n=fire/NOUN/nsubj>v v=damaged/VERB/root b={:PRODUCT}/obj>v of/ADP/case>a "
        "a={:ORG}/nmod>b in/ADP/case>p p={:PLACE}/obl>v late/ADV/advmod>d on/ADP/case>d "
        "d={:DAY}/obl>v ./PUNCT/punct>v",
        (("a", "b", "owns"), ("b", "p", "located in")),
    ),
    Template(
        "accident",
        "police/NOUN/nsubj>v v=said/VERB/root w={:PERSON}/nsubj>f had/AUX/aux>f "
        "f=driven/VERB/ccomp>v from/ADP/case>p p={:PLACE}/obl>f to/ADP/case>q q={:PLACE}/obl>f "
        "at/ADP/case>t t={:HOUR}/obl>f ./PUNCT/punct>v",
        (("w", "p", "was in"), ("w", "q", "was in")),
    ),
    Template(
        "sport",
        "w={:PERSON}/nsubj>v v=scored/VERB/root twice/ADV/advmod>v for/ADP/case>p p={:PLACE}/obl>v "
        "against/ADP/case>q q={:PLACE}/obl>v on/ADP/case>d d={:DAY}/obl>v ./PUNCT/punct>v",
    ),
    Template(
        "sport",
        "n=coach/NOUN/nsubj>v w={:PERSON}/appos>n v=leaves/VERB/root a={:ORG}/obj>v and/CCONJ/cc>j "
        "j=joins/VERB/conj>v b={:ORG}/obj>j in/ADP/case>d d={:MONTH}/obl>j ./PUNCT/punct>v",
        (("w", "b", "works for"),),
    ),
    Template(
        "culture",
        "w={:PERSON}/nsubj>v v=plays/VERB/root in/ADP/case>p p={:PLACE}/obl>v on/ADP/case>d "
        "d={:DAY}/obl>v at/ADP/case>t t={:HOUR}/obl>v ,/PUNCT/punct>k and/CCONJ/cc>k "
        "tickets/NOUN/nsubj>k k=cost/VERB/conj>v m={:MONEY}/obj>k ./PUNCT/punct>v",
        (("w", "p", "was in"),),
    ),
    Template(
        "culture",
        "a={:ORG}/nsubj>v v=gave/VERB/root m={:MONEY}/obj>v to/ADP/case>b b={:PRODUCT}/obl>v "
        "in/ADP/case>p p={:PLACE}/nmod>b ./PUNCT/punct>v",
        (("b", "p", "located in"),),
    ),
    Template(
        "business",
        "a={:ORG}/nsubj>v v=plans/VERB/root to/PART/mark>c c=cut/VERB/xcomp>v m={:-COUNT}/nummod>j "
        "j=jobs/NOUN/obj>c in/ADP/case>p p={:PLACE}/obl>c ./PUNCT/punct>v",
    ),
    Template(
        "politics",
        "w={:PERSON}/nsubj>v v=beat/VERB/root o={:PERSON}/obj>v in/ADP/case>p p={:PLACE}/obl>v "
        "by/ADP/case>m m={:-COUNT}/nummod>k k=votes/NOUN/obl>v ./PUNCT/punct>v",
        weight=0.6,
    ),
    Template(
        "politics",
        "p={:PLACE}/nsubj>v v=rejected/VERB/root a/DET/det>o o=deal/NOUN/obj>v with/ADP/case>a "
        "a={:ORG}/nmod>o ,/PUNCT/punct>s s=said/VERB/parataxis>v w={:PERSON}/nsubj>s "
        "./PUNCT/punct>v",
        weight=0.6,
    ),
    Template(
        "sport",
        "p={:PLACE}/nsubj>v v=beat/VERB/root q={:PLACE}/obj>v at/ADP/case>h h=home/NOUN/obl>v "
        "on/ADP/case>d d={:DAY}/obl>v ./PUNCT/punct>v",
        weight=0.6,
    ),
    Template(
        "sport",
        "w={:PERSON}/nsubj>v v=beat/VERB/root o={:PERSON}/obj>v in/ADP/case>s m={:-COUNT}/nummod>s "
        "s=sets/NOUN/obl>v in/ADP/case>p p={:PLACE}/obl>v ./PUNCT/punct>v",
        (("w", "p", "was in"), ("o", "p", "was in")),
        weight=0.6,
    ),
    Template(
        "sport",
        "a={:ORG}/nsubj>v v=sold/VERB/root w={:PERSON}/obj>v to/ADP/case>b b={:ORG}/obl>v "
        "for/ADP/case>m m={:MONEY}/obl>v ./PUNCT/punct>v",
        (("w", "b", "works for"),),
        weight=0.6,
    ),
    Template(
        "culture",
        "a/DET/det>n n=film/NOUN/nsubj>v about/ADP/case>w w={:PERSON}/nmod>n v=opens/VERB/root "
        "in/ADP/case>p p={:PLACE}/obl>v on/ADP/case>d d={:DAY}/obl>v ./PUNCT/punct>v",
        weight=0.4,
    ),
    Template(
        "culture",
        "w={:PERSON}/nsubj>v v=left/VERB/root a={:ORG}/obj>v to/PART/mark>c c=write/VERB/advcl>v "
        "a/DET/det>b b=novel/NOUN/obj>c about/ADP/case>p p={:PLACE}/nmod>b ./PUNCT/punct>v",
        (("w", "a", "works for"),),
        weight=0.3,
    ),
    Template(
        "health",
        "n=doctors/NOUN/nsubj>v in/ADP/case>p p={:PLACE}/nmod>n v=warned/VERB/root of/ADP/case>f "
        "a/DET/det>f f=fever/NOUN/obl>v after/ADP/case>x m={:-COUNT}/nummod>x x=cases/NOUN/obl>v "
        "./PUNCT/punct>v",
        weight=0.3,
    ),
    Template(
        "health",
        "a={:ORG}/nsubj>v will/AUX/aux>v v=build/VERB/root b={:PRODUCT}/obj>v for/ADP/case>n "
        "children/NOUN/compound>n n=patients/NOUN/obl>v in/ADP/case>p p={:PLACE}/nmod>b "
        "./PUNCT/punct>v",
        (("a", "b", "owns"), ("b", "p", "located in")),
        weight=0.2,
    ),
    Template(
        "weather",
        "s=snow/NOUN/nsubj>v v=closed/VERB/root b={:PRODUCT}/obj>v near/ADP/case>p "
        "p={:PLACE}/nmod>b until/ADP/case>d d={:DAY}/obl>v ./PUNCT/punct>v",
        (("b", "p", "located in"),),
        weight=0.25,
    ),
    Template(
        "weather",
        "s=rain/NOUN/nsubj>v will/AUX/aux>v v=reach/VERB/root p={:PLACE}/obj>v in/ADP/case>t "
        "the/DET/det>t t={:PART}/obl>v ,/PUNCT/punct>y y=said/VERB/parataxis>v "
        "w={:PERSON}/nsubj>y of/ADP/case>a a={:ORG}/nmod>w ./PUNCT/punct>v",
        (("w", "a", "works for"),),
        weight=0.2,
    ),
)

TRAVEL = (
    Template(
        "find flight",
        "v=show/VERB/root me/PRON/iobj>v f=flights/NOUN/obj>v from/ADP/case>a "
        "a={from city:PLACE}/nmod>f to/ADP/case>b b={to city:PLACE}/nmod>f on/ADP/case>d "
        "d={day:DAY}/nmod>f",
    ),
    Template(
        "find flight",
        "i/PRON/nsubj>v v=need/VERB/root a/DET/det>f c={class:CABIN}/compound>f f=seat/NOUN/obj>v "
        "to/ADP/case>b b={to city:PLACE}/nmod>f d={day:DATE}/obl:unmarked>v "
        "t={time:TIME}/obl:unmarked>v",
    ),
    Template(
        "find flight",
        "does/AUX/aux>v l={airline:AIRLINE}/nsubj>v v=fly/VERB/root to/ADP/case>b "
        "b={to city:PLACE}/obl>v in/ADP/case>t the/DET/det>t t={time:PART}/obl>v",
    ),
    Template(
        "fare",
        "how/ADV/advmod>m m=much/ADJ/root is/AUX/cop>m a/DET/det>f f=ticket/NOUN/nsubj>m "
        "from/ADP/case>a a={from city:PLACE}/nmod>f to/ADP/case>b b={to city:PLACE}/nmod>f "
        "with/ADP/case>l l={airline:AIRLINE}/nmod>f",
    ),
    Template(
        "fare",
        "v=find/VERB/root the/DET/det>f cheapest/ADJ/amod>f c={class:CABIN}/compound>f "
        "f=fare/NOUN/obj>v to/ADP/case>b b={to city:PLACE}/nmod>f for/ADP/case>d "
        "d={day:DAY}/nmod>f",
    ),
    Template(
        "fare",
        "is/AUX/cop>u there/PRON/expl>u u=anything/PRON/root under/ADP/case>m "
        "m={price:PRICE}/nmod>u to/ADP/case>b b={to city:PLACE}/nmod>u",
    ),
    Template(
        "schedule",
        "when/ADV/advmod>v does/AUX/aux>v the/DET/det>f t={time:TIME}/compound>f "
        "f=flight/NOUN/nsubj>v to/ADP/case>b b={to city:PLACE}/nmod>f v=leave/VERB/root",
    ),
    Template(
        "schedule",
        "what/DET/det>n n=time/NOUN/obl>v will/AUX/aux>v i/PRON/nsubj>v v=land/VERB/root "
        "in/ADP/case>b b={to city:PLACE}/obl>v if/SCONJ/mark>w i/PRON/nsubj>w w=leave/VERB/advcl>v "
        "a={from city:PLACE}/obj>w at/ADP/case>t t={time:HOUR}/obl>w",
    ),
    Template(
        "hotel",
        "v=book/VERB/root r={room:ROOM}/obj>v in/ADP/case>b b={city:PLACE}/nmod>r for/ADP/case>d "
        "d={day:DAY}/obl>v",
    ),
    Template(
        "hotel",
        "i/PRON/nsubj>w w=want/VERB/root to/PART/mark>v v=stay/VERB/xcomp>w in/ADP/case>b "
        "b={city:PLACE}/obl>v for/ADP/case>m under/ADP/case>m m={price:PRICE}/obl>v",
    ),
    Template(
        "cancel",
        "please/INTJ/discourse>v v=cancel/VERB/root my/PRON/nmod:poss>f f=trip/NOUN/obj>v "
        "to/ADP/case>b b={to city:PLACE}/nmod>f on/ADP/case>d d={day:DAY}/nmod>f",
    ),
    Template(
        "cancel",
        "i/PRON/nsubj>v can/AUX/aux>v not/PART/advmod>v v=fly/VERB/root with/ADP/case>l "
        "l={airline:AIRLINE}/obl>v d={day:DATE}/obl:unmarked>v",
    ),
    Template(
        "meal",
        "can/AUX/aux>v i/PRON/nsubj>v v=have/VERB/root m={meal:MEAL}/obj>v on/ADP/case>f "
        "the/DET/det>f l={airline:AIRLINE}/compound>f f=flight/NOUN/nmod>m to/ADP/case>b "
        "b={to city:PLACE}/nmod>f",
    ),
    Template(
        "weather",
        "will/AUX/aux>v it/PRON/nsubj>v v=rain/VERB/root in/ADP/case>b b={city:PLACE}/obl>v "
        "on/ADP/case>d d={day:DAY}/obl>v",
    ),
    Template(
        "find flight",
        "what/PRON/nsubj>v v=goes/VERB/root to/ADP/case>b b={to city:PLACE}/obl>v on/ADP/case>d "
        "d={day:DAY}/obl>v from/ADP/case>a a={from city:PLACE}/obl>v",
    ),
    Template(
        "find flight",
        "a={from city:PLACE}/nmod>f to/ADP/case>b b={to city:PLACE}/nmod>f d={day:DATE}/nmod>f "
        "f=nonstop/NOUN/root",
        weight=0.5,
    ),
    Template(
        "change",
        "v=move/VERB/root my/PRON/nmod:poss>f f=flight/NOUN/obj>v from/ADP/case>d "
        "d={day:DAY}/obl>v to/ADP/case>e e={day:DAY}/obl>v",
        weight=0.4,
    ),
    Template(
        "change",
        "i/PRON/nsubj>w w=want/VERB/root to/PART/mark>v v=fly/VERB/xcomp>w to/ADP/case>b "
        "b={to city:PLACE}/obl>v from/ADP/case>a a={from city:PLACE}/obl>v instead/ADV/advmod>v",
        weight=0.3,
    ),
    Template(
        "baggage",
        "how/ADV/advmod>m m=much/ADJ/root is/AUX/cop>m a/DET/det>b second/ADJ/amod>b "
        "b=bag/NOUN/nsubj>m with/ADP/case>l l={airline:AIRLINE}/nmod>b",
        weight=0.3,
    ),
    Template(
        "baggage",
        "my/PRON/nmod:poss>b b=bag/NOUN/nsubj>v v=stayed/VERB/root in/ADP/case>a "
        "a={from city:PLACE}/obl>v when/SCONJ/mark>w i/PRON/nsubj>w w=flew/VERB/advcl>v "
        "to/ADP/case>c c={to city:PLACE}/obl>w",
        weight=0.2,
    ),
    Template(
        "hotel",
        "i/PRON/nsubj>v v=need/VERB/root r={room:ROOM}/obj>v near/ADP/case>b "
        "b={city:PLACE}/obl>v from/ADP/case>d d={day:DAY}/obl>v",
    ),
    Template(
        "weather",
        "is/AUX/cop>c it/PRON/nsubj>c c=cold/ADJ/root in/ADP/case>b b={city:PLACE}/obl>c "
        "in/ADP/case>d d={day:MONTH}/obl>c",
        weight=0.3,
    ),
)
