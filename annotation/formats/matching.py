"""Which layer of a file belongs to which task of a project: one rule for import and export."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from annotation.formats.records import FormatError, LayerSpec
from mtl_engine.errors import UnknownName

ALIASES: tuple[frozenset[str], ...] = (
    frozenset("ner entities entity spans span slots slot mentions named_entities".split()),
    frozenset("intent intents class classes label labels category cats cat sentiment".split()),
    frozenset("tree dep deps deprel dependencies dependency syntax parse heads".split()),
    frozenset("pos upos tags tag".split()),
    frozenset("relations relation rel rels re links".split()),
)


def match_layers(
    layers: Iterable[Sequence[str | None]],
    tasks: Iterable[Sequence[str | None]],
    explicit: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The layer of each task that has one, by task name.

    Layers and tasks are (name, kind) or (name, kind, parent). In this order: what ``explicit``
    (task -> layer) says, the same name, a known alias, and the only layer of the kind for the only
    task of the kind. A relations task takes only relations between its parent's own spans.
    """
    layer_specs = [LayerSpec(*layer) for layer in layers]  # type: ignore[arg-type]
    task_specs = [LayerSpec(*task) for task in tasks]  # type: ignore[arg-type]
    matched = _stated(layer_specs, task_specs, explicit or {})
    relations = [task for task in task_specs if task.kind == "relations"]
    others = [task for task in task_specs if task.kind != "relations"]
    for group in (others, relations):
        for is_match in (_same_name, _alias):
            _match_by_name(group, layer_specs, matched, is_match)
        _match_by_kind(group, layer_specs, matched)
    return matched


def _stated(
    layers: list[LayerSpec], tasks: list[LayerSpec], explicit: Mapping[str, str]
) -> dict[str, str]:
    """The explicit mapping, checked."""
    layer_of = {layer.name: layer for layer in layers}
    task_of = {task.name: task for task in tasks}
    for task_name, layer_name in explicit.items():
        if task_name not in task_of:
            raise UnknownName("task", task_name, task_of)
        if layer_name not in layer_of:
            raise UnknownName("layer", layer_name, layer_of)
        task, layer = task_of[task_name], layer_of[layer_name]
        if task.kind != layer.kind:
            raise FormatError(
                f"Task '{task.name}' is of kind {task.kind}, layer '{layer.name}' of kind "
                f"{layer.kind}. Map the task to a layer of its own kind."
            )
    if len(set(explicit.values())) < len(explicit):
        raise FormatError(f"A layer is mapped to two tasks: {dict(explicit)}. Give each its own.")
    return dict(explicit)


def _match_by_name(
    tasks: list[LayerSpec],
    layers: list[LayerSpec],
    matched: dict[str, str],
    is_match: Callable[[str, str], bool],
) -> None:
    for task in tasks:
        if task.name in matched:
            continue
        for layer in _free(task, layers, matched):
            if is_match(task.name.lower(), layer.name.lower()):
                matched[task.name] = layer.name
                break


def _match_by_kind(
    tasks: list[LayerSpec], layers: list[LayerSpec], matched: dict[str, str]
) -> None:
    """Match a task and a layer that are each the only one of their kind left."""
    for task in [task for task in tasks if task.name not in matched]:
        rivals = [t for t in tasks if t.kind == task.kind and t.name not in matched]
        candidates = _free(task, layers, matched)
        if len(candidates) == 1 and len(rivals) == 1:
            matched[task.name] = candidates[0].name


def _free(task: LayerSpec, layers: list[LayerSpec], matched: dict[str, str]) -> list[LayerSpec]:
    """The layers of the task's kind that nobody has; for relations, those between its spans."""
    taken = set(matched.values())
    free = [layer for layer in layers if layer.kind == task.kind and layer.name not in taken]
    if task.kind != "relations" or task.parent is None:
        return free
    spans = matched.get(task.parent)
    return [layer for layer in free if layer.parent in (None, spans) and spans is not None]


def _same_name(task: str, layer: str) -> bool:
    return task == layer


def _alias(task: str, layer: str) -> bool:
    return any(task in group and layer in group for group in ALIASES)
