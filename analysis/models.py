"""The tables of the app, where Django looks for them."""

from analysis.insights.models import Quote, Repair
from analysis.web.models import Study

__all__ = ["Quote", "Repair", "Study"]
