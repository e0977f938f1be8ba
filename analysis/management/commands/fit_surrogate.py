import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from analysis.errors import AnalysisError
from analysis.methods.surrogate import METHODS, bootstrap_thetas, fit_surrogate, judge_held_out

HELD_OUT = 0.2


class Command(BaseCommand):
    help = "Say which source tasks help or hurt a target, from losses of trainings with subsets."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", type=Path, help='JSONL of {"subset": [names], "loss": number}; [] = single-task'
        )
        parser.add_argument("--method", default="anchored", choices=sorted(METHODS))
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            names, subsets, losses, alone = _read(options["file"])
            self._fit(names, subsets, losses, alone, options["method"], options["seed"])
        except (AnalysisError, OSError) as error:
            raise CommandError(str(error)) from error

    def _fit(
        self,
        names: list[str],
        subsets: list[tuple[int, ...]],
        losses: list[float],
        alone: float | None,
        method: str,
        seed: int,
    ) -> None:
        fit: dict[str, Any] = {"method": method, "baseline": alone, "n_tasks": len(names)}
        surrogate = fit_surrogate(subsets, losses, **fit)
        rng = np.random.default_rng(seed)
        thetas = bootstrap_thetas(subsets, losses, rng=rng, **fit)
        low, high = np.quantile(thetas, [0.025, 0.975], axis=0)
        for i in np.argsort(surrogate.theta):
            verdict = "helps" if high[i] < 0 else "hurts" if low[i] > 0 else "cannot tell"
            verdict = verdict if method == "anchored" else ""
            interval = f"({low[i]:+.4f} to {high[i]:+.4f})"
            self.stdout.write(f"{surrogate.theta[i]:+.4f} {interval}  {names[i]}  {verdict}")
        self._judge(subsets, losses, alone, fit, rng)

    def _judge(
        self,
        subsets: list[tuple[int, ...]],
        losses: list[float],
        alone: float | None,
        fit: dict[str, Any],
        rng: np.random.Generator,
    ) -> None:
        order = rng.permutation(len(subsets))
        n_held = int(HELD_OUT * len(subsets))
        if n_held < 3 or alone is None:
            return
        kept = [int(i) for i in order[n_held:]]
        held = [int(i) for i in order[:n_held]]
        partial = fit_surrogate([subsets[i] for i in kept], [losses[i] for i in kept], **fit)
        quality = judge_held_out(
            partial,
            [subsets[i] for i in held],
            [losses[i] for i in held],
            single_task_loss=alone,
        )
        self.stdout.write(
            f"Held-out rank correlation {quality.spearman:.2f} on {quality.n} subsets."
        )


def _read(path: Path) -> tuple[list[str], list[tuple[int, ...]], list[float], float | None]:
    """Return task names, subsets, losses, and the mean loss of the empty subset."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            rows.append(([str(name) for name in row["subset"]], float(row["loss"])))
        except (json.JSONDecodeError, KeyError, TypeError, ValueError):
            raise AnalysisError(
                f'{path}:{number}: not {{"subset": [names], "loss": number}}: {line[:60]}'
            ) from None
    names = sorted({name for subset, _ in rows for name in subset})
    alone = [loss for subset, loss in rows if not subset]
    used = [
        (tuple(sorted(names.index(n) for n in subset)), loss) for subset, loss in rows if subset
    ]
    return (
        names,
        [subset for subset, _ in used],
        [loss for _, loss in used],
        float(np.mean(alone)) if alone else None,
    )
