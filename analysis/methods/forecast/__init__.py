"""How many more labels until a score: learning-curve laws fitted to the rounds so far."""

from analysis.forecast.forecasting import Forecast, forecast_target
from analysis.forecast.hindcasting import Hindcast, hindcasts
from analysis.forecast.laws import LAWS, FittedLaw, best_law, fit_law

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
