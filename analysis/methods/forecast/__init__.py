"""How many more labels until a score: learning-curve laws fitted to the rounds so far."""

from analysis.methods.forecast.extrapolation import Forecast, Hindcast, forecast_target, hindcasts
from analysis.methods.forecast.laws import LAWS, FittedLaw, best_law, fit_law

__all__ = [
    "LAWS",
    "FittedLaw",
    "Forecast",
    "Hindcast",
    "best_law",
    "fit_law",
    "forecast_target",
    "hindcasts",
]
