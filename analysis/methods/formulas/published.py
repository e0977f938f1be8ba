"""The formulas of paper 000, equations 3 to 11, as F1 in [0, 1].

The paper prints percent (equation 11: per mille). Equations 4 and 5 are corrected: as printed they
stay below 9 and 18 percent, with the constant outside the root they meet the figures.
"""

from analysis.methods.formulas.expressions import Expression, parse

EQUATIONS = {
    3: ("0.0069*sqrt(n)", ("n",)),
    4: ("0.01*sqrt(ami)/0.015", ("ami",)),
    5: ("0.2*sqrt(t)", ("t",)),
    6: ("0.01*sqrt((log(t) + 0.45)*ami*n/(ami + 0.6))", ("n", "ami", "t")),
    7: ("0.01*sqrt(n)", ("n",)),
    8: ("0.0069*sqrt(n_synthetic)", ("n_synthetic",)),
    9: ("0.01*sqrt(2*ami)/0.026", ("ami",)),
    10: ("0.01*log(sqrt(t) + log(t))/0.039", ("t",)),
    11: (
        "0.001*sqrt(log(n/0.38)*(sqrt(t) + t))*sqrt(n_synthetic*ami)",
        ("n", "n_synthetic", "ami", "t"),
    ),
}


def published(number: int) -> Expression:
    """Return an equation of the paper in the variables that it names."""
    text, names = EQUATIONS[number]
    return parse(text, names)
