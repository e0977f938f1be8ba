"""Contrast as WCAG 2 defines it, and colours as colour-blind eyes see them."""

import math

# Machado, Oliveira and Fernandes 2009, severity 1; rows make linear R, G, B.
EYES = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
# Ottosson 2020: linear sRGB -> cone responses -> OKLab.
CONES = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
OKLAB = (
    (0.2104542553, 0.7936177850, -0.0040720468),
    (1.9779984951, -2.4285922050, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.8086757660),
)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours such as #026071, from 1 to 21."""
    dark, light = sorted(_luminance(colour) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def distance(one: str, other: str) -> float:
    """Return how far two colours are apart in OKLab for the eye that tells them worst."""
    return min(math.dist(_seen(one, eye), _seen(other, eye)) for eye in EYES.values())


def _luminance(colour: str) -> float:
    return sum(w * v for w, v in zip((0.2126, 0.7152, 0.0722), _linear(colour), strict=True))


def _linear(colour: str) -> list[float]:
    values = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def _seen(colour, eye):
    cones = [max(0.0, v) ** (1 / 3) for v in _times(CONES, _times(eye, _linear(colour)))]
    return _times(OKLAB, cones)


def _times(matrix, vector):
    return [sum(w * v for w, v in zip(row, vector, strict=True)) for row in matrix]
