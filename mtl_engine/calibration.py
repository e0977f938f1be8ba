"""Whether a model's confidence can be believed, and what corrects it and its answers."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mtl_engine.errors import EngineError

COLDEST, HOTTEST = 0.01, 100.0  # a dev set answered perfectly, or not at all, has no finite optimum
ROUNDING = 1e-6  # shares computed in float32 may miss [0, 1] by this much
MASKED = -1e30  # stands for a logit of minus infinity: probability 0, and 0 * MASKED = 0


def overconfidence_error(confidence: ArrayLike, accuracy: ArrayLike) -> float:
    """Return mean conf * max(conf - acc, 0) over sentences; one-sided: show both means too."""
    conf, acc = _pairs(confidence, accuracy)
    return float(np.mean(conf * np.maximum(conf - acc, 0.0)))


def explained_accuracy(confidence: ArrayLike, accuracy: ArrayLike) -> float:
    """Return R2 of the line that tells accuracy from confidence over sentences (Figure 5).

    0 where all sentences are equally sure or equally right: nothing is told then.
    """
    conf, acc = _pairs(confidence, accuracy)
    if not (np.ptp(conf) and np.ptp(acc)):
        return 0.0
    return float(np.corrcoef(conf, acc)[0, 1] ** 2)


def expected_calibration_error(
    confidence: ArrayLike, accuracy: ArrayLike, *, n_bins: int = 10
) -> float:
    """Return mean |accuracy - confidence| over equally wide bins, weighted by their sentences."""
    conf, acc = _pairs(confidence, accuracy)
    if n_bins < 1:
        raise EngineError(f"n_bins is {n_bins}; at least 1 bin is needed.")
    bins = np.minimum((conf * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, weights=acc - conf, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(conf))


def fit_temperature(
    logits: Sequence[ArrayLike] | NDArray[Any],
    labels: Sequence[Any] | NDArray[Any],
    *,
    doubt: float = 0.0,
) -> float:
    """Return the T > 0 for which softmax(logits / T) gives the labels the least mean NLL.

    One (n, s) array with (n,) labels, or lists of (m_i, s_i) arrays and (m_i,) labels; a negative
    label is a missing one. The loss is convex in 1 / T: a bracketed Newton iteration finds it.
    ``doubt`` is the share of each label that goes to all columns of its row alike.
    """
    blocks = _blocks(logits, labels)
    wanted = [_wanted_logits(rows, truth, doubt) for rows, truth in blocks]
    if _nll_derivatives(blocks, wanted, 1.0)[0] == 0:
        return 1.0  # the optimum, or nothing depends on the temperature
    low, high, inverse = 1.0 / HOTTEST, 1.0 / COLDEST, 1.0
    for _ in range(100):
        slope, curvature = _nll_derivatives(blocks, wanted, inverse)
        low, high = (inverse, high) if slope < 0 else (low, inverse)
        newton = inverse - slope / curvature if curvature > 0 else low
        following = newton if low < newton < high else (low + high) / 2
        if abs(following - inverse) <= 1e-12 * inverse:
            break
        inverse = following
    return 1.0 / inverse


def _pairs(confidence: ArrayLike, accuracy: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    conf, acc = np.asarray(confidence, np.float64), np.asarray(accuracy, np.float64)
    if conf.ndim != 1 or conf.shape != acc.shape or len(conf) == 0:
        raise EngineError(
            f"Confidence has shape {conf.shape} and accuracy {acc.shape}; both must be (n,) with "
            "the same n of at least 1."
        )
    for name, values in (("Confidence", conf), ("Accuracy", acc)):
        if not ((values >= -ROUNDING) & (values <= 1 + ROUNDING)).all():
            raise EngineError(
                f"{name} ranges from {values.min()} to {values.max()}; allowed is 0 to 1."
            )
    return np.clip(conf, 0.0, 1.0), np.clip(acc, 0.0, 1.0)


Block = tuple[NDArray[np.float64], NDArray[np.int64]]


def _blocks(logits: Any, labels: Any) -> list[Block]:
    """Return labelled rows stacked by their number of columns: trees have one width per length."""
    if all(np.ndim(label) == 0 for label in labels):
        logits, labels = [logits], [labels]
    by_width: dict[int, list[Block]] = defaultdict(list)
    if len(logits) != len(labels):
        raise EngineError(
            f"There are {len(logits)} arrays of logits and {len(labels)} of labels; give one of "
            "each per sentence."
        )
    for i, (rows, truth) in enumerate(zip(logits, labels, strict=True)):
        rows, truth = np.asarray(rows, np.float64), _whole_numbers(i, truth)
        if rows.ndim != 2 or truth.shape != rows.shape[:1]:
            raise EngineError(
                f"Logits {i} have shape {rows.shape} and their labels {truth.shape}; expected "
                "(rows, classes) and (rows,)."
            )
        if (truth >= rows.shape[1]).any():
            raise EngineError(f"Label {truth.max()} of block {i} has no column in its logits.")
        if np.isnan(rows).any() or (rows == np.inf).any():
            raise EngineError(f"Logits {i} contain NaN or infinity; only minus infinity masks.")
        by_width[rows.shape[1]].append((rows[truth >= 0], truth[truth >= 0]))
    blocks = [
        (np.concatenate([rows for rows, _ in same]), np.concatenate([truth for _, truth in same]))
        for same in by_width.values()
    ]
    if not sum(len(truth) for _, truth in blocks):
        raise EngineError("No label to fit a temperature on: give at least one labelled row.")
    return [(np.maximum(rows, MASKED), truth) for rows, truth in blocks]


def _whole_numbers(number: int, labels: ArrayLike) -> NDArray[np.int64]:
    found = np.asarray(labels)
    if found.dtype.kind not in "iubf" or not (found == np.rint(found)).all():
        raise EngineError(f"Labels {number} are not all whole numbers; expected column numbers.")
    return found.astype(np.int64)


def _wanted_logits(
    rows: NDArray[np.float64], truth: NDArray[np.int64], doubt: float
) -> NDArray[np.float64]:
    """Return (n,) the mean logit of each row under its label, or its softened label."""
    hit: NDArray[np.float64] = rows[np.arange(len(truth)), truth]
    if doubt == 0:
        return hit
    is_open = rows > MASKED
    spread = np.where(is_open, rows, 0.0).sum(axis=1) / np.maximum(is_open.sum(axis=1), 1)
    return (1 - doubt) * hit + doubt * spread


def _nll_derivatives(
    blocks: list[Block], wanted: list[NDArray[np.float64]], inverse: float
) -> tuple[float, float]:
    """Return the first and second derivative of the mean NLL in 1 / T."""
    slope = curvature = rows_seen = 0.0
    for (rows, _), goal in zip(blocks, wanted, strict=True):
        scaled = inverse * rows
        weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        mean = (weights * rows).sum(axis=1)
        slope += float((mean - goal).sum())
        centred = np.where(weights > 0, rows - mean[:, None], 0.0)
        curvature += float((weights * centred**2).sum())
        rows_seen += len(rows)
    return slope / rows_seen, curvature / rows_seen


N_KNOTS = 32
UNITS_PER_KNOT = 20  # below, a share of wrong units is mostly chance
RAW_SHARE = 0.1  # of the expected error that still tells apart what dev cannot


def fit_expected_error(raw: ArrayLike, is_wrong: ArrayLike) -> NDArray[np.float64]:
    """Return knots (2, k): how often units with a raw error of knots[0] are wrong, knots[1].

    raw (u,) is 1 - the probability of the answer, which smoothed labels keep above a floor however
    sure the model is; is_wrong (u,) says which units of the dev sentences were wrong. Between them
    lies an isotonic regression over groups of equally many units; a tenth stays the raw error above
    its first decile, so that units of one level still differ.
    """
    errors, wrong = np.asarray(raw, np.float64), np.asarray(is_wrong, np.float64)
    order = np.argsort(errors, kind="stable")
    n_groups = int(np.clip(len(errors) // UNITS_PER_KNOT, 1, N_KNOTS - 2))
    groups = np.array_split(order, n_groups)
    means = np.array([errors[group].mean() for group in groups])
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    shares = np.array([wrong[group].mean() for group in groups])
    level = _isotonic(shares, sizes)
    floor = float(np.quantile(errors, 0.1))
    places = np.unique(np.concatenate([[min(floor, means[0])], means, [1.0]]))
    values = (1 - RAW_SHARE) * np.interp(places, means, level)
    return np.stack([places, values + RAW_SHARE * np.maximum(places - floor, 0.0)])


def _isotonic(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest values that never fall, by pooling adjacent violators."""
    blocks: list[list[float]] = []  # mean, weight, how many values
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, size, count = blocks.pop()
            total = blocks[-1][1] + size
            blocks[-1][0] = (blocks[-1][0] * blocks[-1][1] + mean * size) / total
            blocks[-1][1], blocks[-1][2] = total, blocks[-1][2] + count
    return np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])


def best_threshold(margins: np.ndarray, hits: np.ndarray, n_gold: int) -> float:
    """Return the margin above which answers are given, by their F1 on dev sentences.

    Of all places between two margins whose F1 is within a standard error of the best (Breiman et
    al. 1984) the one nearest to 0, where the model would draw the line itself: the curve is flat,
    and the top of few answers is chance. margins (P,): how far the best label lies above null;
    hits (P,): whether it is the right one.
    """
    order = np.argsort(-margins, kind="stable")
    f1 = 2 * np.cumsum(hits[order]) / (np.arange(1, len(order) + 1) + n_gold)
    if not f1.any():
        return 0.0
    highs = margins[order]
    lows = np.append(highs[1:], highs[-1] - 1.0)
    best = f1.max()
    is_good = f1 >= best - np.sqrt(max(0.0, best * (1 - best)) / n_gold)
    places = np.where((lows < 0) & (highs >= 0), 0.0, (highs + lows) / 2)[is_good]
    return float(places[np.abs(places).argmin()])
