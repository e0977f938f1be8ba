"""Settings that describe themselves: one dataclass field is the whole of a setting.

A settings class is a frozen dataclass that inherits from ``Settings``. A field made with
``setting`` carries its title, help, choices and bounds; forms, REST schemas, command lines, pages
and documentation are all made from ``settings_fields``, so a new setting is one new field.
Reading is strict: an unknown key, or a value that is not allowed, is refused with a message that
names the key, the value and what is allowed.
"""

import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cache
from typing import Any, ClassVar, Literal, NoReturn, Self, get_args, get_origin, get_type_hints

from mtl_engine.errors import EngineError, Problem, UnknownName

Form = Literal["bool", "int", "float", "text", "texts", "weights", "group", "groups"]


@dataclass(frozen=True)
class Choice:
    """One value that a setting may have, and what else is known of it."""

    value: Any
    title: str = ""  # plain words for a menu
    help: str = ""  # plain words: when to take it
    flags: Mapping[str, Any] = field(default_factory=dict)  # properties that pages react to


Choices = Sequence[Choice] | Callable[[], Sequence[Choice]]


class InvalidSettings(EngineError):
    """Settings that are refused, with everything that is wrong with them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(problem.message for problem in problems))


@dataclass(frozen=True)
class SettingField:
    """A setting as everybody who shows, reads or documents it needs to know it."""

    name: str
    form: Form
    default: Any
    title: str = ""
    help: str = ""
    section: str = ""  # under which pages show it
    choices: tuple[Choice, ...] = ()  # empty = any value of the form within the bounds
    is_registry: bool = False  # whose choices may become more
    low: float | None = None
    high: float | None = None
    is_above_low: bool = False  # the bound itself is not allowed
    is_below_high: bool = False
    is_share: bool = False  # pages show it in per cent
    suffix: str = ""  # unit, shown after the value
    needs: str = ""  # flag of a chosen strategy without which it has no effect
    longest: int = 200  # characters of a text
    n_lines: int = 1  # of a text's box on a page
    is_filled: bool = False  # an empty text is refused
    problem: Callable[[str], str] | None = None  # what is wrong with a text, nothing = it fits

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        if self.choices:
            return ", ".join(str(choice.value) for choice in self.choices)
        if self.low is None:
            return _FORM_WORDS[self.form]
        if self.is_below_high:
            return f"{self.low:.10g} to below {self.high:.10g}"
        if self.high is not None and self.is_above_low:
            return f"more than {self.low:.10g}, at most {self.high:.10g}"
        if self.high is not None:
            return f"{self.low:.10g} to {self.high:.10g}"
        return f"more than {self.low:.10g}" if self.is_above_low else f"{self.low:.10g} or more"

    def is_within_bounds(self, value: float) -> bool:
        """Return whether a number is allowed."""
        if self.low is not None and (value < self.low or (self.is_above_low and value == self.low)):
            return False
        return self.high is None or (
            value < self.high if self.is_below_high else value <= self.high
        )


@dataclass(frozen=True)
class _About:
    """What ``setting`` adds to a dataclass field."""

    title: str
    help: str
    section: str
    choices: Choices
    low: float | None
    high: float | None
    is_above_low: bool
    is_below_high: bool
    is_share: bool
    suffix: str
    needs: str


def setting(
    default: Any = MISSING,
    *,
    default_factory: Any = MISSING,
    title: str,
    help: str = "",
    section: str = "",
    choices: Choices = (),
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    is_share: bool = False,
    suffix: str = "",
    needs: str = "",
) -> Any:
    """Return a dataclass field that describes itself; ``above`` and ``below`` exclude the bound."""
    about = _About(
        title=title,
        help=help,
        section=section,
        choices=choices,
        low=low if above is None else above,
        high=high if below is None else below,
        is_above_low=above is not None,
        is_below_high=below is not None,
        is_share=is_share,
        suffix=suffix,
        needs=needs,
    )
    options: dict[str, Any] = {"metadata": {"about": about}}
    if default_factory is not MISSING:
        return field(default_factory=default_factory, **options)
    return field(default=default, **options)


def setting_of(
    settings: type, name: str, *, choices: Choices = (), more: Sequence[Choice] = ()
) -> Any:
    """Return a field as another settings class has it, with other choices or with more."""
    found = next(one for one in fields(settings) if one.name == name)
    about: _About = found.metadata["about"]
    known = about.choices() if callable(about.choices) else about.choices
    new = replace(about, choices=choices or (*known, *more))
    return field(default=found.default, metadata={"about": new})


class Settings:
    """A group of settings that reads itself from a plain dictionary, strictly."""

    RETIRED: ClassVar[tuple[str, ...]] = ()  # names of earlier versions that ``current`` knows

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the settings; keys that are absent keep their defaults."""
        wanted = _types(cls)  # type: ignore[arg-type]  # a class is hashable
        names = ", ".join(wanted)
        if not isinstance(values, Mapping):
            raise EngineError(
                f"{cls.__name__} is {values!r}; allowed: a table with keys of: {names}."
            )
        values = cls.current(values)
        found: dict[str, Any] = {}
        refusals: list[tuple[str, EngineError]] = []
        for key, value in values.items():
            try:
                if key not in wanted:
                    raise UnknownName(f"{cls.__name__} key", key, wanted)
                found[key] = _read(cls.__name__, key, wanted[key], value)
            except EngineError as error:
                refusals.append((key, error))
        if not refusals:
            return cls(**found)
        _raise(refusals)

    @classmethod
    def current(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values that an earlier version wrote under the names that they have today."""
        return values

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON, that ``from_dict`` reads back to an equal object."""
        found: dict[str, Any] = _without_tuples(asdict(self))  # type: ignore[call-overload]
        return found

    def __post_init__(self) -> None:
        """Refuse values outside their choices and bounds, then what does not go together."""
        refusals = list(self._refused_values())
        if not refusals:
            refusals = [(one.path, EngineError(one.message)) for one in self.conflicts()]
        if refusals:
            _raise(refusals)

    def conflicts(self) -> Iterator[Problem]:
        """Yield what does not go together; every value by itself is allowed."""
        yield from ()

    def _refused_values(self) -> Iterator[tuple[str, EngineError]]:
        group = type(self).__name__
        for about in settings_fields(type(self)):
            value = getattr(self, about.name)
            if about.choices:
                known = [choice.value for choice in about.choices]
                if value not in known:
                    what = f"{group} {about.name}"
                    yield about.name, UnknownName(what, value, map(str, known))
            elif about.form in ("int", "float") and not about.is_within_bounds(value):
                yield about.name, _bad_value(group, about.name, value, about.allowed)

    def _require_choices(self) -> None:
        """Refuse a name that is none of a key's choices, however the settings were made."""
        for key, wanted in _types(type(self)).items():  # type: ignore[arg-type]
            value = getattr(self, key)
            if get_origin(wanted) is Literal and value not in get_args(wanted):
                raise UnknownName(f"{type(self).__name__} {key}", value, get_args(wanted))

    def _require(self, key: str, is_allowed: bool, allowed: str) -> None:
        if not is_allowed:
            raise _bad_value(type(self).__name__, key, getattr(self, key), allowed)


def settings_fields(cls: type[Settings]) -> tuple[SettingField, ...]:
    """Return the settings of a class in the order in which they are written down."""
    wanted = _types(cls)  # type: ignore[arg-type]  # a class is hashable
    return tuple(_setting_field(f, wanted[f.name]) for f in fields(cls))  # type: ignore[arg-type]


def settings_table(cls: type[Settings]) -> list[str]:
    """Return the rows of a Markdown table: each setting, its default, what is allowed, its use."""
    return [
        f"| `{about.name}` | {_shown(about.default)} | {_allowed_cell(about)} | {_meaning(about)} |"
        for about in settings_fields(cls)
    ]


def read_assignments(cls: type[Settings], texts: Iterable[str]) -> dict[str, Any]:
    """Return the values of ``KEY=VALUE`` arguments, each read as the setting's type wants it.

    A text may stand without quotes; ``weights.NAME=0.5`` is one weight; anything else is TOML.
    """
    known = {about.name: about for about in settings_fields(cls)}
    values: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise EngineError(f"'{text}' is no setting; allowed: KEY=VALUE.")
        name, dot, part = key.strip().partition(".")
        if name not in known and name not in cls.RETIRED:
            raise UnknownName(f"{cls.__name__} key", name, known)
        if dot:
            values.setdefault(name, {})[part] = _toml(value)
        else:
            is_text = name in known and known[name].form == "text"
            values[name] = value if is_text else _toml(value)
    return values


@cache
def _types(cls: type[Settings]) -> Mapping[str, Any]:
    """Return the type of every setting."""
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in fields(cls)}  # type: ignore[arg-type]


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _setting_field(found: Any, wanted: Any) -> SettingField:
    default = found.default if found.default is not MISSING else found.default_factory()
    about: _About | None = found.metadata.get("about")
    form = _form(wanted)
    if about is None:
        literals = get_args(wanted) if get_origin(wanted) is Literal else ()
        return SettingField(
            found.name, form, default, choices=tuple(Choice(value) for value in literals)
        )
    choices = about.choices() if callable(about.choices) else about.choices
    return SettingField(
        name=found.name,
        form=form,
        default=default,
        title=about.title,
        help=about.help,
        section=about.section,
        choices=tuple(choices),
        is_registry=callable(about.choices),
        low=about.low,
        high=about.high,
        is_above_low=about.is_above_low,
        is_below_high=about.is_below_high,
        is_share=about.is_share,
        suffix=about.suffix,
        needs=about.needs,
    )


def _form(wanted: Any) -> Form:
    if get_origin(wanted) is Literal:
        return "text"
    if get_origin(wanted) is tuple:
        return "texts" if get_args(wanted)[0] is str else "groups"
    if get_origin(wanted) is not None:
        return "weights"
    if issubclass(wanted, Settings):
        return "group"
    forms: dict[type, Form] = {bool: "bool", int: "int", float: "float", str: "text"}
    return forms[wanted]


_FORM_WORDS: dict[Form, str] = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "text": "a text",
    "texts": "a list of texts",
    "weights": "a table of task name to weight",
    "group": "a table",
    "groups": "a list of tables",
}


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:g}"
    return f"`{value}`" if value not in ("", (), {}) else "none"


def _allowed_cell(about: SettingField) -> str:
    if about.is_registry:
        return "those registered"
    if about.choices:
        return ", ".join(f"`{choice.value}`" for choice in about.choices)
    return about.allowed


def _meaning(about: SettingField) -> str:
    return f"{about.title}. {about.help}".strip() if about.help else f"{about.title}."


def _raise(refusals: Sequence[tuple[str, EngineError]]) -> NoReturn:
    """Raise the one error there is, or one that tells them all; each knows its key."""
    problems = [
        problem
        for key, error in refusals
        for problem in getattr(error, "problems", None) or [Problem(key, str(error))]
    ]
    if len(refusals) > 1:
        raise InvalidSettings(problems)
    _, error = refusals[0]
    error.problems = tuple(problems)  # type: ignore[attr-defined]
    raise error


def _read(group: str, key: str, wanted: Any, value: Any) -> Any:
    if isinstance(wanted, type) and issubclass(wanted, Settings):
        if isinstance(value, wanted):
            return value
        if not isinstance(value, Mapping):
            names = ", ".join(f.name for f in fields(wanted))  # type: ignore[arg-type]
            raise _bad_value(group, key, value, f"a table with keys of: {names}")
        return wanted.from_dict(value)
    if get_origin(wanted) is Literal:
        if value not in get_args(wanted):
            raise UnknownName(f"{group} {key}", value, get_args(wanted))
        return value
    if get_origin(wanted) is tuple:
        item = get_args(wanted)[0]
        return _read_texts(group, key, value) if item is str else _read_groups(key, item, value)
    if get_origin(wanted) is not None:
        return _read_weights(group, key, value)
    return _read_scalar(group, key, wanted, value)


def _read_scalar(group: str, key: str, wanted: type, value: Any) -> Any:
    if wanted is float:
        return _read_float(group, key, value)
    if type(value) is not wanted:
        raise _bad_value(group, key, value, f"a value of type {wanted.__name__}")
    return value


def _read_float(group: str, key: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -sys.float_info.max <= value <= sys.float_info.max:
        raise _bad_value(group, key, value, "a finite number of type float")
    return float(value)


def _read_weights(group: str, key: str, value: Any) -> dict[str, float]:
    if not isinstance(value, Mapping):
        raise _bad_value(group, key, value, "a table of task name to weight")
    return {str(k): _read_scalar(group, f"{key}.{k}", float, v) for k, v in value.items()}


def _read_texts(group: str, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise _bad_value(group, key, value, "a list of texts")
    return tuple(value)


def _read_groups(key: str, wanted: type[Settings], value: Any) -> tuple[Settings, ...]:
    if not isinstance(value, list | tuple):
        raise _bad_value(wanted.__name__, key, value, "a list of tables")
    return tuple(each if isinstance(each, wanted) else wanted.from_dict(each) for each in value)


def _bad_value(group: str, key: str, value: object, allowed: str) -> EngineError:
    return EngineError(f"{group} key '{key}' is {value!r}; allowed: {allowed}.")


def _without_tuples(value: Any) -> Any:
    """Return a value as JSON gives it back."""
    if isinstance(value, dict):
        return {key: _without_tuples(part) for key, part in value.items()}
    return [_without_tuples(part) for part in value] if isinstance(value, tuple | list) else value
