"""What a trained model says of sentences."""

from mtl_engine.prediction.predict import Prediction, predict
from mtl_engine.prediction.score import Scores, UnitErrors, score
from mtl_engine.prediction.temperature import fit_temperatures

__all__ = ["Prediction", "Scores", "UnitErrors", "fit_temperatures", "predict", "score"]
