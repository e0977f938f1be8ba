"""The model's way out: predictions for everything, the model itself, answers on request."""
