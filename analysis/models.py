"""The tables of the app, where Django looks for them."""

from analysis.web.models import Study

__all__ = ["Study"]
