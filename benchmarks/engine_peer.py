"""small-text's loop on the same sentences and encoder, to run beside the engine's.

It is no dependency: ``pip install --no-deps --target FOLDER small-text`` and pass ``--peer FOLDER``
to ``benchmarks.engine_speed``. Its data set pads every sentence to a fixed length.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtl_engine.encoders.transformer import bundled_folder, load_tokenizer
from mtl_engine.types import Example

MAX_LENGTH = 60  # of sub-words, as in its text classification examples
N_EPOCHS = 3  # of one fit, which also builds the model


def peer_runs(
    folder: Path, examples: Sequence[Example], pool: Sequence[Any], labels: Sequence[str]
) -> dict[str, Callable[[], Any]]:
    """Return a fit of three epochs on the examples and a scoring of the pool, to be timed."""
    sys.path.insert(0, str(folder))
    from small_text import TransformerModelArguments, TransformersDataset
    from small_text.integrations.transformers.classifiers import classification

    tokenizer = load_tokenizer(bundled_folder())
    type(tokenizer).encode_plus = lambda self, *a, **k: self(*a, **k)  # gone in transformers 5

    def dataset(sentences: Sequence[Any], answers: Sequence[int]) -> Any:
        return TransformersDataset.from_arrays(
            [" ".join(tokens) for tokens in sentences],
            np.array(answers),
            tokenizer,
            max_length=MAX_LENGTH,
            target_labels=np.arange(len(labels)),
        )

    answers = [labels.index(example.labels["intent"]) for example in examples]
    training = dataset([example.tokens for example in examples], answers)
    scoring = dataset(pool, [0] * len(pool))
    model = TransformerModelArguments(str(bundled_folder()))
    classifier = classification.TransformerBasedClassification(
        model, len(labels), num_epochs=N_EPOCHS, device="cpu"
    )
    return {
        "training": lambda: classifier.fit(training, validation_set=training[:1]),
        "scoring": lambda: classifier.predict_proba(scoring),
    }
