"""All operations of the REST API. Generated from docs/openapi.yaml by `make api`: do not edit."""
# mypy: disable-error-code="no-any-return"

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, Unpack
from uuid import uuid4

from tandem_client.transport import Transport


class Account(TypedDict):
    """Somebody with an account."""

    id: int
    name: str
    is_active: bool
    is_admin: bool
    n_projects: int
    n_answers: int
    last_sign_in: str | None


class AccountMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Account"]
    next: str | None


ActionEnum = Literal["cut", "join", "restore"]


class Action(TypedDict):
    """Something a person did on the page."""

    at: float
    kind: str
    task: NotRequired[str | None]
    detail: NotRequired[Any]


class AdviceAnswer(TypedDict):
    """Task advice."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    advice: "AdviceResult | None"
    words: list[str]


class Advice(TypedDict):
    """How to measure."""

    method: NotRequired["MethodEnum"]


class AdviceResult(TypedDict):
    """All effects that could be measured."""

    effects: list["Effect"]
    targets: list["Target"]
    too_few: dict[str, int]
    method: "MethodEnum"
    n_trainings: int
    n_seeds: int
    cpu_seconds: float


class AgreementList(TypedDict):
    """Agreement on every task, by name, as the worker has computed it."""

    computed_at: str | None
    is_current: bool
    tasks: dict[str, "Agreement"]


class Agreement(TypedDict):
    """Agreement on one task; what cannot be computed is null, with a reason."""

    kind: str
    n_sentences: int
    n_annotators: int
    scores: dict[str, "Score"]
    pairs: list["Pair"]
    labels: dict[str, "Score"]
    reason: str


class AnswerList(TypedDict):
    """Answers to look at, those that the model is surest to contradict first."""

    results: list["Answer"]
    total: int


class Answer(TypedDict):
    """One person's answer, and what the model says."""

    id: int
    sentence: "Sentence"
    task: str
    person: str
    value: Any
    version: int
    answered_at: str
    suggestion: Any
    confidence: float | None
    differs: bool


class AnswerSummary(TypedDict):
    """How much was answered to a task, and with which labels first."""

    n: int
    labels: list[str]


class Answers(TypedDict):
    """Whose answers."""

    person: str


AnswersEnum = Literal["keep", "delete"]


class AppliedAnswer(TypedDict):
    """What new rounds are set to from now on."""

    changed: list[str]


ArchitectureEnum = Literal["ST", "SMT", "CMT"]


class Ask(TypedDict):
    """The tasks wanted on a sentence, and why."""

    id: int
    rank: int
    n_asks: int
    round: int | None
    is_blind: bool
    purpose: "PurposeEnum"
    tasks: list[str]
    words: dict[str, list[int]]
    why: str
    reason: "Reason"
    confidences: dict[str, float]
    predicted_seconds: float | None


class AskedAgain(TypedDict):
    """A sentence that somebody else is asked about."""

    sentence: int
    n_people: int


class AskedSentence(TypedDict):
    """A sentence with the text around it."""

    id: int
    corpus: str
    position: int
    key: str
    document: str
    is_document: bool
    language: str
    text: str
    tokens: list[str]
    starts: NotRequired[list[int]]
    offsets: list[list[int]]
    before: str
    after: str


class Asking(TypedDict):
    """A source that an admin lists, and what to ask it."""

    source: str
    url: NotRequired[str]
    model: NotRequired[str]
    directory: NotRequired[str]
    tasks: NotRequired[list[str]]
    limit: NotRequired[int]


class BiasList(TypedDict):
    """The comparison for every task with blind asks, and every source of suggestions."""

    computed_at: str | None
    is_current: bool
    tasks: list["Bias"]
    sources: list["SourceReport"]


class Bias(TypedDict):
    """How close people come to the model and to each other."""

    task: str
    measure: str
    to_model: "Compared"
    to_each_other: "Compared"


BlankEnum = Literal[""]


class Borders(TypedDict):
    """A border between sentences."""

    action: "ActionEnum"
    version: NotRequired[int]
    at: NotRequired[int]
    tokens: NotRequired[list[str]]


class BrokenRule(TypedDict):
    """A rule of Universal Dependencies that a sentence of a file breaks."""

    line: int
    rule: str
    level: str
    message: str


class Budget(TypedDict):
    """What the current queue has cost."""

    round: int | None
    minutes: float
    budget_minutes: float | None
    n_asks: int
    n_answered: int
    predicted_minutes: float | None
    median_seconds: float | None
    all_minutes: float


class BudgetShape(TypedDict):
    """What a budget would buy."""

    n_sentences: int
    n_test: int
    is_all: bool
    minutes: float
    chance: float
    tasks: dict[str, float]
    market: NotRequired[list["Market"]]
    worth: NotRequired[dict[str, float]]


class Calibration(TypedDict):
    """Confidence against accuracy on the test slice."""

    bins: list[list[float]]
    overconfidence: float
    calibration_error: float
    mean_confidence: float
    mean_accuracy: float
    r_squared: NotRequired[float]


class Case(TypedDict):
    """A sentence to decide."""

    sentence: "Sentence"
    is_blind: bool
    tasks: list["TaskCase"]


class Chance(TypedDict):
    """What chance would have brought a task in a round for the same minutes."""

    task: str
    chosen: float
    chance: float
    low: float
    high: float


class Change(TypedDict):
    """A style whose share in somebody's first and last period differs beyond doubt."""

    annotator: str
    style: int
    early: str
    before: float
    late: str
    after: float


class Choices(TypedDict):
    """How an import meets the project."""

    new_labels: str
    label_map: dict[str, dict[str, str]]
    duplicates: str
    skips_bad: bool
    is_test: bool
    language: NotRequired[str]
    is_onto_existing: bool


class Compared(TypedDict):
    """One measure where suggestions were shown, and where they were withheld."""

    shown: "Score"
    blind: "Score"
    n_shown: int
    n_blind: int


class Comparison(TypedDict):
    """A task's score by choice and by chance, at the same cost."""

    chance: float
    chosen: float
    difference: float
    interval: list[float]
    verdict: "ComparisonMessageVerdictEnum"


ComparisonMessageVerdictEnum = Literal["better", "equal", "worse"]

ConfidenceEnum = Literal["entropy", "dropout"]


class Control(TypedDict):
    """A model of what chance alone has brought."""

    n_labelled: int
    n_by_task: NotRequired[dict[str, int]]
    scores: dict[str, "TaskEvaluation"]
    ledger: NotRequired[dict[str, "Comparison"]]


class Corpus(TypedDict):
    """One import."""

    id: int
    name: str
    format: str
    language: str
    n_sentences: int
    created_at: str


class CorpusMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Corpus"]
    next: str | None


class Corrected(TypedDict):
    """What a correction did."""

    sentence: "SentenceRow"
    other: "SentenceRow | None"
    carried: list[str]
    to_redo: list[str]
    version: int


class Counts(TypedDict):
    """What one person did and has left in the current queue."""

    left: int
    done: int
    skipped: int
    minutes: float
    budget_minutes: float | None


class CountsMessage(TypedDict):
    """Counts after something was given back."""

    counts: "Counts"


class CoveredCell(TypedDict):
    """What the answer to one task covers of the errors that are expected."""

    task: str
    share: float
    is_by_chance: bool
    features: list["CoveredFeature"]


class CoveredFeature(TypedDict):
    """Words of a sentence, or the whole of it, and what the pool has like them."""

    words: list[str]
    like: str
    pool: int
    labelled: int
    expected_wrong: float
    share: float


class CurveForecast(TypedDict):
    """How a curve is expected to go on."""

    words: str
    law: str
    curve: list["ExpectedPoint"]


class Curve(TypedDict):
    """A task's learning curve, and that of what chance has brought."""

    task: str
    metric: str
    target: float | None
    chosen: list["CurvePoint"]
    control: list["CurvePoint"]
    forecast: "CurveForecast"


class CurvePoint(TypedDict):
    """A score on the test slice, against labelled sentences."""

    round: int
    n: int
    score: float
    low: float | None
    high: float | None


class Dashboard(TypedDict):
    """Everything that the overview draws."""

    curves: list["Curve"]
    pool: "PoolMap | None"
    calibration: dict[str, "TaskCalibration"]
    drift: list["Drift"]
    budget: "Budget | None"
    suggestions: "SuggestionCounts"
    people: list["Person"]


class Days(TypedDict):
    """Days between which the work will be done."""

    middle: str | None
    low: str | None
    high: str | None


class Decide(TypedDict):
    """Answers that become gold."""

    answers: dict[str, Any]


class Decided(TypedDict):
    """What is gold now."""

    gold: dict[str, int]


class Delete(TypedDict):
    """A sign that deleting is meant."""

    name: str


class Delivery(TypedDict):
    """One call of a webhook, and how it went."""

    id: int
    event: str
    state: "DeliveryMessageStateEnum"
    n_tries: int
    status: int | None
    message: str
    created_at: str
    next_try_at: str
    ended_at: str | None


class DeliveryMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Delivery"]
    next: str | None


DeliveryMessageStateEnum = Literal["waiting", "delivered", "failed"]


class Difference(TypedDict):
    """An item that not everybody has."""

    item: Any
    people: list[str]


class DisputeList(TypedDict):
    """The first sentences to decide, and how many there are."""

    results: list["Dispute"]
    total: int


class Dispute(TypedDict):
    """A sentence on which people differ."""

    sentence: int
    text: str
    disagreement: float
    tasks: list[str]


DiversityEnum = Literal["none", "facility", "badge"]


class Document(TypedDict):
    """The text around a sentence."""

    title: str
    is_document: bool
    number: int
    n_sentences: int
    sentences: list["DocumentSentence"]


class DocumentSentence(TypedDict):
    """A sentence among its neighbours."""

    id: int
    position: int
    text: str
    state: "DocumentSentenceStateEnum | BlankEnum"


DocumentSentenceStateEnum = Literal["yours", "gold", "asked"]


class Draft(TypedDict):
    """Unfinished work, in whatever form the page keeps it."""

    token: str
    draft: NotRequired[Any]
    version: int


class DraftSaved(TypedDict):
    """What was kept of a draft."""

    saved_at: str
    version: int


class Drift(TypedDict):
    """What a strategy does to a task's labels."""

    task: str
    labels: list["LabelShare"]


DropoutScopeEnum = Literal["full", "top"]

DuplicatesEnum = Literal["keep", "skip"]


class Effect(TypedDict):
    """What training with a source task adds to a target, in points."""

    source: str
    target: str
    points: float
    low: float
    high: float


EncoderEnum = Literal["bundled", "tiny"]


class Erase(TypedDict):
    """Whom to erase, typed by hand, and what becomes of their answers."""

    name: str
    answers: "AnswersEnum"


class Erased(TypedDict):
    """What went."""

    n_answers: int


class Error(TypedDict):
    """The one shape of every error."""

    error: "ErrorBody"


class ErrorBody(TypedDict):
    """What went wrong."""

    code: str
    message: str
    fields: NotRequired[dict[str, list[str]]]
    details: NotRequired["ErrorDetails"]


class ErrorDetails(TypedDict):
    """What a code tells besides: of `lease_lost` the answers, of `stale_draft` the newer draft."""

    yours: NotRequired[dict[str, Any]]
    current: NotRequired[dict[str, Any]]
    draft: NotRequired[Any]
    version: NotRequired[int]
    saved_at: NotRequired[str | None]


EventsEnum = Literal["round.ready", "target.reached", "export.done"]


class Example(TypedDict):
    """A sentence that would be asked."""

    rank: int
    sentence: int
    text: str
    seconds: float
    tasks: list[str]
    why: str
    is_random: bool


class ExpectedPoint(TypedDict):
    """A score that is expected of so many labelled sentences."""

    n: float
    score: float
    low: float
    high: float


class Finding(TypedDict):
    """A rule of Universal Dependencies that answers break."""

    task: str
    rule: str
    level: str
    word: int | None
    message: str


class FindingsBodyRequest(TypedDict):
    """Answers as they stand."""

    answers: dict[str, Any]


class Findings(TypedDict):
    """What the rules say."""

    findings: list["Finding"]


class FlagBodyRequest(TypedDict):
    """What is wrong with a sentence."""

    comment: str


class Flag(TypedDict):
    """A remark on a sentence, and what became of it."""

    id: int
    sentence: "Sentence"
    corpus: str
    author: str
    comment: str
    created_at: str
    is_open: bool
    outcome: str
    answer: str
    resolved_by: str | None
    resolved_at: str | None


class FlagMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Flag"]
    next: str | None


class Flagged(TypedDict):
    """A remark that was kept."""

    flag: int
    created_at: str


class ForecastAnswer(TypedDict):
    """The forecast of every task, by its name."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    tasks: dict[str, "TaskForecast"]


class ForecastPoint(TypedDict):
    """A score that is expected at a number of labelled sentences."""

    n: int
    score: float
    low: float
    high: float


class GroupBodyRequest(TypedDict):
    """A group of people and the part of the work that is theirs; an empty list limits nothing."""

    name: str
    people: list[str]
    corpora: NotRequired[list[str]]
    languages: NotRequired[list[str]]
    documents: NotRequired[list[str]]
    tasks: NotRequired[list[str]]


class GroupList(TypedDict):
    """All groups of a project."""

    results: list["Group"]


class Group(TypedDict):
    """A group of people."""

    name: str
    people: list[str]
    corpora: NotRequired[list[str]]
    languages: NotRequired[list[str]]
    documents: NotRequired[list[str]]
    tasks: NotRequired[list[str]]
    id: int
    n_open: int


class Hints(TypedDict):
    """Hints by task name."""

    hints: dict[str, "TaskHints"]


class HistoryFlag(TypedDict):
    """A remark of one's own, and the curators' answer."""

    comment: str
    answer: str


class History(TypedDict):
    """Every version of every answer to a sentence, by task."""

    tasks: dict[str, list["Version"]]


ImportBodyFormatEnum = Literal[
    "auto",
    "text",
    "csv",
    "tsv",
    "jsonl",
    "conll2003",
    "slu",
    "conllu",
    "doccano",
    "ie",
    "labelstudio",
    "brat",
]

ImportBodyLabelsEnum = Literal["gold", "suggestions", "annotations", "none"]


class Import(TypedDict):
    """A file, and how it is to be taken."""

    format: NotRequired["ImportBodyFormatEnum"]
    labels: "ImportBodyLabelsEnum"
    name: NotRequired[str]
    author: NotRequired[str]
    mapping: NotRequired[str]
    new_labels: NotRequired["NewLabelsEnum"]
    label_map: NotRequired[str]
    duplicates: NotRequired["DuplicatesEnum"]
    skip_bad: NotRequired[bool]
    onto_existing: NotRequired[bool]
    language: NotRequired[str]
    as_test: NotRequired[bool]
    is_dry_run: NotRequired[bool]
    tokeniser: NotRequired[str]
    split_sentences: NotRequired[bool]
    scheme: NotRequired[str]
    columns: NotRequired[str]
    text_column: NotRequired[str]
    label_separator: NotRequired[str]
    cuts_tokens: NotRequired[bool]
    annotator: NotRequired[str]
    encoding: NotRequired[str]


class ImportReport(TypedDict):
    """What an import found and did."""

    file_name: str
    format: str
    corpus_name: str
    is_dry_run: bool
    is_good: bool
    corpus_id: int | None
    n_sentences: int
    n_tokens: int
    layers: dict[str, str]
    columns: list[str]
    schemes: dict[str, str]
    n_answers: dict[str, int]
    labels: dict[str, dict[str, int]]
    new_labels: dict[str, list[str]]
    tasks_without_layer: list[str]
    problems: list["Problem"]
    problem_kinds: list["ProblemKind"]
    n_problems: int
    n_bad: int
    n_duplicates: int
    aside: dict[str, int]
    rules: dict[str, int]
    broken: list["BrokenRule"]
    sample: list[list[str]]
    choices: "Choices"


class InsightStatus(TypedDict):
    """How old a stored result is, and the job that computes a newer one."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"


class Interval(TypedDict):
    """An estimate and its 90 % interval; null where no end can be told."""

    middle: float | None
    low: float | None
    high: float | None


class InvitationBodyRequest(TypedDict):
    """Who is invited, as what, for how long."""

    role: "RoleEnum"
    note: NotRequired[str]
    days: NotRequired[int]
    address: NotRequired[str]


class Invitation(TypedDict):
    """A link that lets one person join, once."""

    id: int
    role: "RoleEnum"
    expires_at: str
    path: str


class Job(TypedDict):
    """Work of the worker: how far it is and what came out of it."""

    id: int
    kind: str
    state: "JobState"
    stage: str
    n_done: int
    n_total: int | None
    message: str
    result: "ImportReport | dict[str, Any]"


JobState = Literal["queued", "running", "done", "failed", "cancelled"]


class KeptQuote(TypedDict):
    """A kept quote, and whether it held."""

    id: int
    name: str
    round: int
    hours: float | None
    low: float
    high: float | None
    needed: float | None
    verdict: "KeptQuoteShapeVerdictEnum"
    created_at: str


KeptQuoteShapeVerdictEnum = Literal["held", "missed", "open"]


class Label(TypedDict):
    """A label."""

    id: int
    name: str
    colour: int
    key: str
    description: str
    is_retired: bool


class LabelShare(TypedDict):
    """How often a label is in chosen and in random asks."""

    label: str
    chosen: float
    random: float


class Later(TypedDict):
    """What is answered so far."""

    token: str
    answers: NotRequired[dict[str, Any]]
    seconds: NotRequired[float]
    note: NotRequired[str]


class LeaseBodyRequest(TypedDict):
    """The proof that a lease is this window's."""

    token: str


class Lease(TypedDict):
    """An ask in one's hands, with everything the annotate page shows."""

    id: int
    token: str
    expires_at: str
    heartbeat_seconds: int
    ask: "Ask"
    sentence: "AskedSentence"
    suggestions: dict[str, "Suggestion"]
    answers: dict[str, Any]
    note: str
    draft: Any
    draft_version: int
    draft_saved_at: str | None
    counts: "Counts"
    context: NotRequired[dict[str, Any]]


class LeaveOut(TypedDict):
    """Why a sentence is left out of the pool; empty puts it back."""

    reason: NotRequired[str]


class LedgerAnswer(TypedDict):
    """What the choice has saved against chance."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    round: int | None
    tasks: list["LedgerTask"]
    saved: "Interval | None"
    spent_minutes: float
    rounds: list["RoundLedger"]
    words: list[str]


class LedgerTask(TypedDict):
    """How choice and chance compare at a task, for the same minutes."""

    task: str
    chance: float
    chosen: float
    difference: float
    interval: list[str | float | None]
    minutes: "Interval"
    verdict: "LedgerTaskVerdictEnum"


LedgerTaskVerdictEnum = Literal["saved", "lost", "not shown"]


class LeftOut(TypedDict):
    """Whether a sentence is in the pool."""

    sentence: int
    left_out: str


class Lengths(TypedDict):
    """How long the asked sentences are, beside those of the pool."""

    words: NotRequired[list[str]]
    asked: NotRequired[list[float]]
    pool: NotRequired[list[float]]
    mean_asked: NotRequired[float]
    mean_pool: NotRequired[float]


class Log(TypedDict):
    """Something that somebody did."""

    id: int
    action: str
    actor: str | None
    details: dict[str, Any]
    can_undo: bool
    is_undone: bool
    created_at: str


class LogMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Log"]
    next: str | None


class Market(TypedDict):
    """What a kind of ask takes of the time, and what it brings."""

    purpose: str
    title: str
    n_offered: int
    n: int
    minutes: float
    points: float
    points_per_minute: float
    best_per_minute: float
    why: str


class Member(TypedDict):
    """A person of a project."""

    id: int
    user: str
    role: "RoleEnum"
    quota: int | None
    since: str


class MemberMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Member"]
    next: str | None


class Merge(TypedDict):
    """Which label takes the place of this one."""

    into: int


MethodEnum = Literal["trained", "gradients"]


class Mixture(TypedDict):
    """One annotator's work since a day."""

    annotator: str
    start: str
    n_sequences: int
    shares: list["Share"]
    is_described: bool


class NewLabels(TypedDict):
    """The labels that are new."""

    labels: list["Label"]


class NewLabelsBodyRequest(TypedDict):
    """Labels that are to be added."""

    names: list[str]


NewLabelsEnum = Literal["refuse", "take"]


class NewProject(TypedDict):
    """A project that is to be made."""

    name: str
    tasks: NotRequired[list["NewTask"]]
    description: NotRequired[str]
    language: NotRequired[str]
    guidelines: NotRequired[str]
    overlap: NotRequired[int]
    lease_minutes: NotRequired[int]
    shows_suggestions: NotRequired[bool]
    accepts_on_submit: NotRequired[bool]
    shows_working_styles: NotRequired[bool]
    check_share: NotRequired[int]
    hides_names: NotRequired[bool]
    ud_validation: NotRequired[bool]
    deadline: NotRequired[str]
    work_minutes: NotRequired[int]
    weekly_hours: NotRequired[int]
    hour_price: NotRequired[int]
    currency: NotRequired[str]
    replays_at_night: NotRequired[bool]
    applies_proposals: NotRequired[bool]


NewTaskBodyKindEnum = Literal[
    "spans",
    "tags",
    "classes",
    "features",
    "lemmas",
    "multiclasses",
    "tree",
    "graph",
    "relations",
    "attributes",
]


class NewTask(TypedDict):
    """A task that is to be made."""

    name: str
    kind: "NewTaskBodyKindEnum"
    labels: NotRequired[list[str | dict[str, Any]]]
    parent: NotRequired[str]
    second_parent: NotRequired[str]
    open: NotRequired[bool]
    nested: NotRequired[bool]
    document: NotRequired[bool]
    window: NotRequired[int]
    pairs: NotRequired[dict[str, list[list[str]]]]
    guidelines: NotRequired[str]
    target: NotRequired[float | None]


class NewToken(TypedDict):
    """A new token with its secret."""

    id: int
    name: str
    scope: "ScopeEnum"
    created_at: str
    expires_at: str
    last_used_on: str | None
    secret: str


class NewWebhook(TypedDict):
    """A new webhook with its secret."""

    id: int
    url: str
    events: list[str]
    is_active: bool
    created_at: str
    secret: str


class News(TypedDict):
    """What became of one's flags, and what to look at again."""

    flags: list["OwnFlag"]
    returned: list["ReturnedAnswer"]


class OneSuggestion(TypedDict):
    """An answer that a source suggests for a task on a sentence of the project."""

    sentence: int
    task: str
    value: Any
    confidence: NotRequired[float]


class OtherLabel(TypedDict):
    """An item that the model takes for possible besides: another class, arc or span."""

    value: Any
    confidence: float


OutcomeEnum = Literal["answered", "corrected", "left_out", "closed"]

OverflowEnum = Literal["stop", "skip"]


class OwnAnswers(TypedDict):
    """What one answered, to look at."""

    sentence: "AskedSentence"
    answers: dict[str, Any]
    context: dict[str, Any]
    note: str


class OwnFlag(TypedDict):
    """One's own flag, and what became of it."""

    id: int
    sentence: "SubmittedSentence"
    comment: str
    created_at: str
    is_open: bool
    outcome: str
    answer: str
    resolved_at: str | None
    is_new: bool


class Pair(TypedDict):
    """How far two people agree."""

    first: str
    second: str
    n: int
    scores: dict[str, "Score"]


class PatchedAccountBodyRequest(TypedDict):
    """Whether somebody may sign in."""

    is_active: NotRequired[bool]


class ChangeWebhook(TypedDict):
    """What to change about a webhook."""

    events: NotRequired[list["EventsEnum"]]
    is_active: NotRequired[bool]


class LabelChanges(TypedDict):
    """What is to be changed about a label; a new name follows into every answer."""

    name: NotRequired[str]
    description: NotRequired[str]
    colour: NotRequired[int]
    key: NotRequired[str]
    position: NotRequired[int]
    is_retired: NotRequired[bool]


class PatchedMemberBodyRequest(TypedDict):
    """What to change about a member."""

    role: NotRequired["RoleEnum"]
    quota: NotRequired[int | None]


class ProjectChanges(TypedDict):
    """What is to be changed about a project."""

    name: NotRequired[str]
    state: NotRequired["ProjectState"]
    description: NotRequired[str]
    language: NotRequired[str]
    guidelines: NotRequired[str]
    overlap: NotRequired[int]
    lease_minutes: NotRequired[int]
    shows_suggestions: NotRequired[bool]
    accepts_on_submit: NotRequired[bool]
    shows_working_styles: NotRequired[bool]
    check_share: NotRequired[int]
    hides_names: NotRequired[bool]
    ud_validation: NotRequired[bool]
    deadline: NotRequired[str]
    work_minutes: NotRequired[int]
    weekly_hours: NotRequired[int]
    hour_price: NotRequired[int]
    currency: NotRequired[str]
    replays_at_night: NotRequired[bool]
    applies_proposals: NotRequired[bool]


class TaskChanges(TypedDict):
    """What is to be changed about a task."""

    name: NotRequired[str]
    guidelines: NotRequired[str]
    target_score: NotRequired[float | None]
    is_open: NotRequired[bool]
    is_nested: NotRequired[bool]
    is_hidden: NotRequired[bool]
    pairs: NotRequired[dict[str, list[list[str]]]]
    window: NotRequired[int]


class Peek(TypedDict):
    """An ask in nobody's hands."""

    ask: "Ask"
    sentence: "AskedSentence"
    suggestions: dict[str, "Suggestion"]


class Person(TypedDict):
    """What a person did."""

    name: str
    this_round: int
    all: int
    median_seconds: float | None
    accepted: float | None
    agreement: float | None
    last_seen: str


class PlanAnswer(TypedDict):
    """What making a quote the plan has changed."""

    changes: list[str]


class Planned(TypedDict):
    """The quote without the chosen what-ifs."""

    hours: "Interval"
    done_on: "Days | None"
    chance: float | None


class PolicyAnswer(TypedDict):
    """The learned order of tasks."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    policy: "PolicyResult | None"


class Policy(TypedDict):
    """The search for a policy."""

    entropy_weight: NotRequired[float]
    iterations: NotRequired[int]
    population: NotRequired[int]
    seed: NotRequired[int]


PolicyEnum = Literal["joint", "uniform", "size", "temperature", "exp3s", "learned"]


class PolicyResult(TypedDict):
    """A policy and what the logs say it is worth."""

    probabilities: dict[str, float]
    value: float | None
    lower_bound: float | None
    effective_size: float | None
    warning: str
    n_logs: int


class PoolMap(TypedDict):
    """What the last round chose from."""

    round: int
    tasks: list[str]
    points: list["PoolPoint"]
    n_pool: int


class PoolPoint(TypedDict):
    """A sentence in the space of confidences."""

    sentence: int
    confidence: list[float | None]
    kind: "PoolPointKindEnum"
    text: str


PoolPointKindEnum = Literal["pool", "random", "chosen"]


class PredictBodyRequest(TypedDict):
    """Sentences to ask a model about: texts, or words."""

    texts: NotRequired[list[str]]
    sentences: NotRequired[list[list[str]]]
    round: NotRequired[int]


class Predict(TypedDict):
    """The answers of a round's model, in the order of the sentences."""

    round: int
    results: list["PredictedSentence"]


class PredictedAnswer(TypedDict):
    """A model's answer to a task."""

    value: Any
    confidence: float
    items: list["SuggestedItem"]


class PredictedSentence(TypedDict):
    """What a model says of a sentence."""

    tokens: list[str]
    offsets: NotRequired[list[list[int]]]
    answers: dict[str, "PredictedAnswer"]


PredictionsBodyFormatEnum = Literal[
    "text",
    "csv",
    "spreadsheet",
    "tsv",
    "jsonl",
    "conll2003",
    "slu",
    "conllu",
    "doccano",
    "ie",
    "labelstudio",
    "brat",
    "datasets",
    "spacy",
]

PredictionsBodyLabelsEnum = Literal["model", "final+model"]


class Predictions(TypedDict):
    """What to predict, and what becomes of it."""

    round: NotRequired[int]
    format: NotRequired["PredictionsBodyFormatEnum"]
    labels: NotRequired["PredictionsBodyLabelsEnum"]
    corpora: NotRequired[list[str]]
    tasks: NotRequired[list[str]]
    as_suggestions: NotRequired[bool]


class PreviewAnswer(TypedDict):
    """The preview of the next round."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    preview: "PreviewResult | None"


class PreviewResult(TypedDict):
    """What the next round would ask, by the model of the last one."""

    round: int
    needs: NotRequired[dict[str, float]]
    train_seconds: float
    minutes: float
    budgets: dict[str, "BudgetShape"]
    lengths: "Lengths"
    examples: list["Example"]


class ProblemKind(TypedDict):
    """Problems that differ only in names and numbers."""

    message: str
    n: int
    lines: list[int]


class Problem(TypedDict):
    """Something wrong with a file, and where."""

    file: str
    line: int
    message: str


class Project(TypedDict):
    """A project with its tasks, and one's own role in it."""

    id: int
    name: str
    state: "ProjectState"
    role: "RoleEnum"
    n_sentences: int
    created_at: str
    tasks: list["Task"]
    description: str
    language: str
    guidelines: str
    overlap: int
    lease_minutes: int
    shows_suggestions: bool
    accepts_on_submit: bool
    shows_working_styles: bool
    check_share: int
    hides_names: bool
    ud_validation: bool
    deadline: str
    work_minutes: int
    weekly_hours: int
    hour_price: int
    currency: str
    replays_at_night: bool
    applies_proposals: bool


class ProjectRow(TypedDict):
    """A project in a list."""

    id: int
    name: str
    state: "ProjectState"
    role: "RoleEnum"


class ProjectRowPage(TypedDict):
    """The content of a request or a response."""

    results: list["ProjectRow"]
    next: str | None


ProjectState = Literal["active", "paused", "archived"]


class ProposalRow(TypedDict):
    """Another way of choosing, replayed on the project's past."""

    words: str
    gain: float
    interval: list[str | float | None] | None
    n_seeds: int
    is_shown: bool


class ProposalsAnswer(TypedDict):
    """What replays of the past propose."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    rows: list["ProposalRow"]
    proposal: "ProposalRow | None"
    applied: bool
    words: str


class Proposals(TypedDict):
    """How much to replay."""

    minutes: NotRequired[int]
    n_seeds: NotRequired[int]


PurposeEnum = Literal["label", "check", "second", "adjudicate", "repair"]


class QuoteAnswer(TypedDict):
    """The quote of the project's own targets."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    quote: "Quote | None"


class QuoteBodyRequest(TypedDict):
    """What a quote is asked for, where it differs from what the project says."""

    targets: NotRequired[dict[str, float | None]]
    deadline: NotRequired[str]
    weekly_hours: NotRequired[float]
    what_ifs: NotRequired[list[str]]


class Quote(TypedDict):
    """What the targets will cost."""

    round: int
    is_known: bool
    tasks: list["QuotedTask"]
    hours: "Interval"
    sentences: "Interval"
    n_open: int | None
    shared_hours: float | None
    spent_hours: float
    weekly_hours: float
    done_on: "Days | None"
    deadline: str
    chance: float | None
    minutes_left: float | None
    chance_in_minutes: float | None
    n_curves: int
    what_ifs: list["WhatIf"]
    chosen: list[str]
    planned: "Planned | None"
    outlook: list[str]
    text: str


class QuotedTask(TypedDict):
    """What the target of one task needs by itself."""

    task: str
    metric: str
    score: float | None
    low: float | None
    high: float | None
    n_labelled: int
    target: float | None
    n_rounds: int
    is_wide: bool
    reached_in: int | None
    hours: "Interval | None"
    likely: float | None


class Reason(TypedDict):
    """Why a sentence is asked for, in numbers; empty before the first round."""

    source: NotRequired[str]
    why: NotRequired[str]
    place: NotRequired[int]
    strategy: NotRequired[str]
    tasks: NotRequired[dict[str, "TaskReason"]]
    frontier: NotRequired[int | None]
    value: NotRequired[float | None]
    cost: NotRequired[float | None]
    value_per_cost: NotRequired[float | None]
    covers: NotRequired[list["CoveredCell"]]


class Renewed(TypedDict):
    """How long a lease goes on."""

    expires_at: str


class RepairCounts(TypedDict):
    """What came of suspects so far."""

    kept: int
    repaired: int
    asked: int


class Resolve(TypedDict):
    """What is done about a flag."""

    outcome: NotRequired["OutcomeEnum"]
    answer: NotRequired[str]
    gold: NotRequired[dict[str, Any]]


class ReturnedAnswer(TypedDict):
    """An answer that a curator asks one to look at again."""

    sentence: "SubmittedSentence"
    task: str
    remark: str
    returned_at: str


ReviewBodyDecisionEnum = Literal["kept", "corrected", "returned"]


class ReviewBodyRequest(TypedDict):
    """What becomes of an answer."""

    decision: "ReviewBodyDecisionEnum"
    remark: NotRequired[str]
    gold: NotRequired[Any]


class Review(TypedDict):
    """A look at an answer."""

    id: int
    decision: str
    remark: str
    created_at: str


RoleEnum = Literal["owner", "curator", "annotator"]


class RoundAsk(TypedDict):
    """A sentence that a round asks about."""

    rank: int
    sentence: int
    text: str
    tasks: list[str]
    is_random: bool
    is_blind: bool
    is_open: bool
    confidences: dict[str, float]
    predicted_seconds: float | None
    why: str


class RoundAskMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["RoundAsk"]
    next: str | None


class RoundLedger(TypedDict):
    """The comparison of one round."""

    round: int
    tasks: list["Chance"]


class Round(TypedDict):
    """A round of active learning."""

    id: int
    number: int
    state: "RoundState"
    message: str
    config: "RoundSettings"
    stages: "Stages"
    progress: "Job | None"
    created_at: str
    finished_at: str | None


class RoundMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Round"]
    next: str | None


class RoundSettings(TypedDict):
    """Everything that an admin decides about a round."""

    encoder: NotRequired["EncoderEnum"]
    architecture: NotRequired["ArchitectureEnum"]
    policy: NotRequired["PolicyEnum"]
    label_smoothing: NotRequired[float]
    frozen_layers: NotRequired[int]
    lora_rank: NotRequired[int]
    epochs: NotRequired[int]
    learning_rate: NotRequired[float]
    head_factor: NotRequired[float]
    batch_size: NotRequired[int]
    patience: NotRequired[int]
    amount: NotRequired[float]
    unit: NotRequired["UnitEnum"]
    strategy: NotRequired["StrategyEnum"]
    task: NotRequired[str]
    weights: NotRequired[dict[str, float]]
    decision: NotRequired["RoundSettingsDecisionEnum"]
    value: NotRequired["ValueEnum"]
    scale: NotRequired["ScaleEnum"]
    diversity: NotRequired["DiversityEnum"]
    candidates: NotRequired[int]
    pool_sample: NotRequired[int]
    coverage_weight: NotRequired[float]
    overflow: NotRequired["OverflowEnum"]
    spend_rest: NotRequired[bool]
    each_wording_once: NotRequired[bool]
    whole_sentences: NotRequired[bool]
    opening_cost: NotRequired[float]
    modes: NotRequired[list[str]]
    word_asks: NotRequired["WordAsksEnum"]
    word_share: NotRequired[float]
    task_need: NotRequired["TaskNeedEnum"]
    random_share: NotRequired[float]
    confidence: NotRequired["ConfidenceEnum"]
    has_temperature: NotRequired[bool]
    is_warm_start: NotRequired[bool]
    n_passes: NotRequired[int]
    dropout_scope: NotRequired["DropoutScopeEnum"]
    overlap: NotRequired[int]
    buys_looks: NotRequired[bool]
    has_control: NotRequired[bool]
    shows_suggestions: NotRequired[bool]
    blind_share: NotRequired[float]
    test_size: NotRequired[int]
    splits_documents: NotRequired[bool]
    seed: NotRequired[int]
    next_at_percent: NotRequired[float]


RoundSettingsDecisionEnum = Literal["BLP", "GREEDY"]


class RoundSettingsRequest(TypedDict):
    """Everything that an admin decides about a round."""

    encoder: NotRequired["EncoderEnum"]
    architecture: NotRequired["ArchitectureEnum"]
    policy: NotRequired["PolicyEnum"]
    label_smoothing: NotRequired[float]
    frozen_layers: NotRequired[int]
    lora_rank: NotRequired[int]
    epochs: NotRequired[int]
    learning_rate: NotRequired[float]
    head_factor: NotRequired[float]
    batch_size: NotRequired[int]
    patience: NotRequired[int]
    amount: NotRequired[float]
    unit: NotRequired["UnitEnum"]
    strategy: NotRequired["StrategyEnum"]
    task: NotRequired[str]
    weights: NotRequired[dict[str, float]]
    decision: NotRequired["RoundSettingsDecisionEnum"]
    value: NotRequired["ValueEnum"]
    scale: NotRequired["ScaleEnum"]
    diversity: NotRequired["DiversityEnum"]
    candidates: NotRequired[int]
    pool_sample: NotRequired[int]
    coverage_weight: NotRequired[float]
    overflow: NotRequired["OverflowEnum"]
    spend_rest: NotRequired[bool]
    each_wording_once: NotRequired[bool]
    whole_sentences: NotRequired[bool]
    opening_cost: NotRequired[float]
    modes: NotRequired[list[str]]
    word_asks: NotRequired["WordAsksEnum"]
    word_share: NotRequired[float]
    task_need: NotRequired["TaskNeedEnum"]
    random_share: NotRequired[float]
    confidence: NotRequired["ConfidenceEnum"]
    has_temperature: NotRequired[bool]
    is_warm_start: NotRequired[bool]
    n_passes: NotRequired[int]
    dropout_scope: NotRequired["DropoutScopeEnum"]
    overlap: NotRequired[int]
    buys_looks: NotRequired[bool]
    has_control: NotRequired[bool]
    shows_suggestions: NotRequired[bool]
    blind_share: NotRequired[float]
    test_size: NotRequired[int]
    splits_documents: NotRequired[bool]
    seed: NotRequired[int]
    next_at_percent: NotRequired[float]


RoundState = Literal[
    "queued", "training", "scoring", "selecting", "labelling", "done", "failed", "cancelled"
]

ScaleEnum = Literal["none", "scaled", "quantile"]

ScopeEnum = Literal["read", "predict", "annotate", "manage"]


class Score(TypedDict):
    """A measure with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None


class Scoring(TypedDict):
    """What the scoring stage found."""

    n_pool: int
    n_scored: NotRequired[int]
    pool_hash: str
    tasks: list[str]
    unit: str
    needs: NotRequired[dict[str, float]]


class Selecting(TypedDict):
    """What the selecting stage found."""

    n_asks: int
    n_random: int
    n_blind: int
    n_test: int
    cost: float
    value: float | None
    is_optimal: bool | None
    worth: NotRequired[dict[str, float]]
    chance_share: NotRequired[float | None]
    minutes: NotRequired[dict[str, float]]
    lengths: NotRequired["Lengths"]
    market: NotRequired[list["Market"]]


class Sentence(TypedDict):
    """A sentence."""

    id: int
    text: str
    tokens: list[str]
    offsets: list[list[int]]


class SentenceRow(TypedDict):
    """A sentence in a list."""

    id: int
    corpus: str
    position: int
    key: str
    document: str
    text: str
    tokens: list[str]
    is_test: bool
    left_out: str


class SentenceRowPage(TypedDict):
    """The content of a request or a response."""

    results: list["SentenceRow"]
    next: str | None


class Sentences(TypedDict):
    """Which sentences."""

    sentences: list[int]


class SentencesDeleted(TypedDict):
    """What went."""

    n_sentences: int


class Share(TypedDict):
    """How much of someone's work is of one style."""

    mean: float
    low: float
    high: float


class SharedScore(TypedDict):
    """Agreement with a 95 % interval; null below ten comparisons."""

    value: float
    low: float | None
    high: float | None
    n: int


SkipBodyKindEnum = Literal["not_a_sentence", "wrong_language", "broken", "unclear", "other"]


class SkipBodyRequest(TypedDict):
    """Why somebody else should answer."""

    token: str
    reason: str
    kind: NotRequired["SkipBodyKindEnum"]


class Skip(TypedDict):
    """One person's reason to skip."""

    person: str
    kind: str
    reason: str


class SkippedList(TypedDict):
    """Sentences that people skipped, most skipped first."""

    results: list["Skipped"]


class Skipped(TypedDict):
    """A sentence that people skipped."""

    sentence: "Sentence"
    corpus: str
    skips: list["Skip"]


class SourceReport(TypedDict):
    """What a source of suggestions is worth for a task."""

    task: str
    source: str
    measure: str
    n_suggestions: int
    with_people: "Compared"
    seen: int
    accepted: int
    edited: int
    rejected: int
    seconds_saved: "Score"
    n_timed: int
    n_timed_blind: int
    verdict: str
    reasons: list[str]


class Stages(TypedDict):
    """What the finished stages found."""

    training: NotRequired["Training"]
    scoring: NotRequired["Scoring"]
    selecting: NotRequired["Selecting"]


class Stored(TypedDict):
    """How many suggestions are stored."""

    n_stored: int


StrategyEnum = Literal[
    "RANDOM",
    "SINGLE",
    "STCS",
    "MT-AVG",
    "MT-MAX",
    "MT-MIN",
    "MT-RRF",
    "MT-IND",
    "MT-PAR",
    "UDJS",
    "EQB-DJS",
    "MT-EEC",
]


class Style(TypedDict):
    """A way of working that annotators share."""

    number: int
    share: float
    mean_length: float
    mean_seconds: NotRequired[float]
    actions: NotRequired[list[list[str | float | None]]]
    marks: list[list[str | float | None]]
    typical: list["Typical"]
    examples: NotRequired[list[int]]


class StylesAnswer(TypedDict):
    """Working styles."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    is_off: bool
    found: "Styles | None"
    reason: str


class Styles(TypedDict):
    """Styles, each annotator's mixture of them, and the mixtures by period."""

    styles: list["Style"]
    annotators: list["Mixture"]
    periods: list["Mixture"]
    changes: NotRequired[list["Change"]]
    notes: list[str]


class Submission(TypedDict):
    """One of a person's own submissions, or something that they skipped."""

    submission: int | None
    lease: int
    state: "SubmissionMessageStateEnum"
    sentence: "SubmittedSentence"
    submitted_at: str
    tasks: list[str]
    answers: dict[str, "AnswerSummary"]
    seconds: float | None
    n_changes: int
    note: str
    reason: str
    flags: list["HistoryFlag"]
    is_gold: bool
    can_reopen: bool


class SubmissionMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Submission"]
    next: str | None


SubmissionMessageStateEnum = Literal[
    "live", "returned", "submitted", "skipped", "reopened", "later"
]


class Submit(TypedDict):
    """Finished work: answers, and how they came about."""

    token: str
    answers: dict[str, Any]
    seconds: NotRequired[float]
    actions: NotRequired[list["Action"]]
    suggestions: NotRequired[dict[str, "SuggestionCountsRequest"]]
    note: NotRequired[str]


class Submitted(TypedDict):
    """The receipt of a submit; the same for every retry."""

    submission: int
    saved_at: str
    counts: "Counts"


class SubmittedSentence(TypedDict):
    """The sentence of a submission."""

    id: int
    text: str


class SuggestedItem(TypedDict):
    """One item of a suggested answer."""

    value: Any
    confidence: float
    others: NotRequired[list["OtherLabel"]]


class SuggestionCounts(TypedDict):
    """What became of suggestions."""

    seen: int
    accepted: int
    edited: int
    rejected: int
    n_shown: int
    n_blind: int
    seconds_shown: float | None
    seconds_blind: float | None


class SuggestionCountsRequest(TypedDict):
    """What became of a task's suggestions."""

    seen: NotRequired[int]
    accepted: NotRequired[int]
    edited: NotRequired[int]
    rejected: NotRequired[int]
    source: NotRequired[str]


class SuggestionDetails(TypedDict):
    """What a model says of each item; empty for suggestions from outside."""

    items: NotRequired[list["SuggestedItem"]]


class Suggestion(TypedDict):
    """A machine's answer to a task, and whose it is."""

    value: Any
    confidence: float | None
    details: "SuggestionDetails"
    source: str


class Suggestions(TypedDict):
    """What a source suggests; it replaces what the source suggested for the same."""

    source: str
    suggestions: list["OneSuggestion"]


SuspectDecisionBodyDecisionEnum = Literal["kept", "repaired", "asked"]


class SuspectDecision(TypedDict):
    """What to do about a suspected error."""

    decision: "SuspectDecisionBodyDecisionEnum"


class Suspect(TypedDict):
    """An answer that may be wrong."""

    number: int
    sentence: int
    task: str
    given: list[Any] | None
    expected: list[Any] | None
    given_words: str
    expected_words: str
    likelihood: float
    probability: float
    seconds: float
    source: str
    people: list[str]
    why: list[str]


class SuspectsAnswer(TypedDict):
    """Suspected errors that nobody has decided about."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    suspects: list["Suspect"]
    n_judged: int
    expected: float
    decided: "RepairCounts"


class Suspects(TypedDict):
    """How to judge."""

    n_folds: NotRequired[int]
    most: NotRequired[int]


class Target(TypedDict):
    """A task by itself and together with all the others."""

    task: str
    metric: str
    alone: float
    together: float
    n_labelled: int
    parent: str | None


class TaskCalibration(TypedDict):
    """Confidence against accuracy, before and after temperature scaling."""

    raw: "Calibration"
    scaled: "Calibration"
    temperature: float | None


class TaskCase(TypedDict):
    """The answers to one task side by side."""

    task: str
    kind: str
    answers: dict[str, Any]
    differences: list["Difference"]
    n_common: int
    disagreement: float
    gold: Any
    gold_source: str
    suggestion: Any


class TaskEvaluation(TypedDict):
    """How good a model is at a task."""

    score: float
    interval: list[float] | None
    metrics: dict[str, float]
    n: int
    calibration: "Calibration"
    calibration_scaled: "Calibration"


class TaskForecast(TypedDict):
    """The way of one task to its target."""

    words: str
    law: str
    more: int | None
    low: int | None
    high: int | None
    is_reached: bool
    curve: list["ForecastPoint"]


class TaskHints(TypedDict):
    """What earlier answers to a task say about a sentence."""

    words: NotRequired[list[list[int | list[Any]]]]
    sentence: NotRequired[dict[str, int]]
    heads: NotRequired[list[list[list[int | str]]]]


class Task(TypedDict):
    """A task with its labels."""

    id: int
    name: str
    kind: str
    parent: str | None
    second_parent: str | None
    is_document: bool
    window: int
    is_nested: bool
    is_open: bool
    is_hidden: bool
    pairs: dict[str, list[list[str]]]
    guidelines: str
    target_score: float | None
    labels: list["Label"]


TaskNeedEnum = Literal["equal", "error"]


class TaskReason(TypedDict):
    """How sure the model is of one task on a sentence, and its rank among the open ones."""

    confidence: float
    rank: int
    of: int
    is_asked: bool


class TeamMember(TypedDict):
    """What is known of a person's work."""

    name: str
    n: int
    n_skipped: int
    minutes: float
    median_seconds: float | None
    last_at: str
    others: "SharedScore | None"
    checks: "SharedScore | None"
    decided: "SharedScore | None"
    votes: dict[str, "Vote"]
    weeks: list[list[str | float | None]]
    agreement_weeks: dict[str, list[list[str | float | None]]]


class Team(TypedDict):
    """The people of a project, as of the last report."""

    people: list["TeamMember"]


class TokenBodyRequest(TypedDict):
    """What a program is called and may do."""

    name: str
    scope: "ScopeEnum"
    days: NotRequired[int]


class Token(TypedDict):
    """A token without its secret, which is not stored."""

    id: int
    name: str
    scope: "ScopeEnum"
    created_at: str
    expires_at: str
    last_used_on: str | None


class TokenMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Token"]
    next: str | None


class Training(TypedDict):
    """What the training stage found."""

    is_seed: bool
    n_train: int
    n_dev: NotRequired[int]
    n_test: NotRequired[int]
    n_labelled: NotRequired[dict[str, int]]
    n_in_pieces: NotRequired[dict[str, int]]
    tasks: NotRequired[list[str]]
    temperatures: NotRequired[dict[str, float]]
    scores: NotRequired[dict[str, "TaskEvaluation"]]
    languages: NotRequired[dict[str, dict[str, float]]]
    policy_weights: NotRequired[dict[str, float] | None]
    cpu_seconds: NotRequired[float]
    data_hash: NotRequired[str]
    control: NotRequired["Control | None"]


class Typical(TypedDict):
    """A sequence of actions that is frequent in a style."""

    steps: list[str]
    count: int


UnitEnum = Literal["minutes", "sentences", "cost"]


class Usage(TypedDict):
    """How often a label is in use, and what merging it would do."""

    n_answers: int
    n_gold: int
    n_sentences: int
    n_people: int
    n_conflicts: int
    examples: list[str]


ValueEnum = Literal["mean", "information"]


class Version(TypedDict):
    """An answer as it was at some time."""

    value: Any
    version: int
    source: str
    person: str
    at: str
    is_current: bool


class Vote(TypedDict):
    """What a person's vote on a task counts."""

    weight: float
    accuracy: float
    n_units: int
    mistakes: list[list[str | float | None]]


class WebhookBodyRequest(TypedDict):
    """Which address is told what."""

    url: str
    events: list["EventsEnum"]


class Webhook(TypedDict):
    """A program that is told what happens; its secret is not shown again."""

    id: int
    url: str
    events: list[str]
    is_active: bool
    created_at: str


class WebhookMessagePage(TypedDict):
    """The content of a request or a response."""

    results: list["Webhook"]
    next: str | None


class WhatIf(TypedDict):
    """A change of the plan, and what it saves or costs."""

    name: str
    words: str
    detail: str
    hours: "Interval"
    days: "Interval | None"
    is_shown: bool


class WhatIfsAnswer(TypedDict):
    """What-ifs that were trained."""

    name: str
    title: str
    computed_at: str | None
    is_current: bool
    job: "Job | None"
    trained: list[str]
    left: list[str]


class WhatIfs(TypedDict):
    """How long to train."""

    minutes: NotRequired[int]


WordAsksEnum = Literal["off", "unsure", "random"]


class Words(TypedDict):
    """Words of a sentence, and those that take their place."""

    start: int
    end: int
    forms: list[str]
    is_multiword: NotRequired[bool]
    tokens: NotRequired[list[str]]


class PeopleQuery(TypedDict):
    limit: NotRequired[int]


class ProjectsQuery(TypedDict):
    limit: NotRequired[int]


class CorporaQuery(TypedDict):
    limit: NotRequired[int]


class ExportQuery(TypedDict):
    corpus: NotRequired[str]
    format: Literal[
        "brat",
        "conll2003",
        "conllu",
        "csv",
        "datasets",
        "doccano",
        "ie",
        "jsonl",
        "labelstudio",
        "slu",
        "spacy",
        "spreadsheet",
        "text",
        "tsv",
    ]
    labels: NotRequired[str]
    round: NotRequired[int]
    sentences: NotRequired[Literal["all", "labelled", "test", "train"]]
    task: NotRequired[list[str]]


class FlagsQuery(TypedDict):
    is_open: NotRequired[bool]
    limit: NotRequired[int]


class HistoryQuery(TypedDict):
    limit: NotRequired[int]
    search: NotRequired[str]


class LogQuery(TypedDict):
    limit: NotRequired[int]


class MembersQuery(TypedDict):
    limit: NotRequired[int]


class ReviewsQuery(TypedDict):
    is_reviewed: NotRequired[bool]
    label: NotRequired[str]
    person: NotRequired[str]
    round: NotRequired[int]
    task: NotRequired[str]


class RoundsQuery(TypedDict):
    limit: NotRequired[int]


class RoundAsksQuery(TypedDict):
    limit: NotRequired[int]


class SentencesQuery(TypedDict):
    corpus: NotRequired[str]
    limit: NotRequired[int]
    text: NotRequired[str]


class DeleteTaskQuery(TypedDict):
    force: NotRequired[bool]


class LabelQuery(TypedDict):
    into: NotRequired[int]


class DeleteLabelQuery(TypedDict):
    retire: NotRequired[bool]


class WebhooksQuery(TypedDict):
    limit: NotRequired[int]


class WebhookDeliveriesQuery(TypedDict):
    limit: NotRequired[int]


class TokensQuery(TypedDict):
    limit: NotRequired[int]


class Operations(Transport):
    """Every operation once."""

    def save_draft(self, lease_id: int, **body: Unpack[Draft]) -> "DraftSaved":
        """Save unfinished work under a version that must be higher than the stored one."""
        return self._json("PUT", f"leases/{lease_id}/draft/", body, may_repeat=True)

    def findings(self, lease_id: int, **body: Unpack[FindingsBodyRequest]) -> "Findings":
        """Return which rules answers to this sentence would break; nothing is stored."""
        return self._json("POST", f"leases/{lease_id}/findings/", body)

    def heartbeat(self, lease_id: int, **body: Unpack[LeaseBodyRequest]) -> "Renewed":
        """Keep the lease for its minutes from now."""
        return self._json("POST", f"leases/{lease_id}/heartbeat/", body, may_repeat=True)

    def compute_later(self, lease_id: int, **body: Unpack[Later]) -> "CountsMessage":
        """Record the answers to some tasks; the ask comes back when all else is done."""
        return self._json("POST", f"leases/{lease_id}/later/", body)

    def release(self, lease_id: int, **body: Unpack[LeaseBodyRequest]) -> "CountsMessage":
        """Give the ask back to its rank."""
        return self._json("POST", f"leases/{lease_id}/release/", body, may_repeat=True)

    def skip(self, lease_id: int, **body: Unpack[SkipBodyRequest]) -> "CountsMessage":
        """Give the ask back for good, with a reason."""
        return self._json("POST", f"leases/{lease_id}/skip/", body, may_repeat=True)

    def delete_skip(self, lease_id: int) -> "Lease":
        """Undo one's skip: the sentence is in one's hands again, what they hold goes back."""
        return self._json("DELETE", f"leases/{lease_id}/skip/", may_repeat=True)

    def submit(
        self, lease_id: int, *, key: str | None = None, **body: Unpack[Submit]
    ) -> "Submitted":
        """Record all wanted answers once; a retry with the same key returns the first result."""
        return self._json(
            "POST",
            f"leases/{lease_id}/submit/",
            body,
            may_repeat=True,
            headers={"Idempotency-Key": key or uuid4().hex},
        )

    def people(self, **query: Unpack[PeopleQuery]) -> Iterator["Account"]:
        """Return everybody with an account, for admins."""
        return self._pages("people/", query)

    def change_people(self, person_id: int, **body: Unpack[PatchedAccountBodyRequest]) -> "Account":
        """Close an account or open it again; answers and memberships stay."""
        return self._json("PATCH", f"people/{person_id}/", body, may_repeat=True)

    def delete_people(self, person_id: int, **body: Unpack[Erase]) -> "Erased":
        """Erase a person, with or without their answers."""
        return self._json("DELETE", f"people/{person_id}/", body, may_repeat=True)

    def compute_anonymise(self, person_id: int) -> "Account":
        """Take a person's name off everything they did, and close the account for good."""
        return self._json("POST", f"people/{person_id}/anonymise/")

    def projects(self, **query: Unpack[ProjectsQuery]) -> Iterator["ProjectRow"]:
        """Return one's own projects, newest first."""
        return self._pages("projects/", query)

    def create_project(self, **body: Unpack[NewProject]) -> "Project":
        """Make a project with its tasks and become its owner."""
        return self._json("POST", "projects/", body)

    def project(self, project_id: int) -> "Project":
        """Return a project with its tasks, their labels and one's own role."""
        return self._json("GET", f"projects/{project_id}/", may_repeat=True)

    def change_project(self, project_id: int, **body: Unpack[ProjectChanges]) -> "Project":
        """Change what a project says and how it is worked on; pause, archive or reopen it."""
        return self._json("PATCH", f"projects/{project_id}/", body, may_repeat=True)

    def delete_project(self, project_id: int, **body: Unpack[Delete]) -> None:
        """Delete a project with everything in it: rows and files."""
        return self._json("DELETE", f"projects/{project_id}/", body, may_repeat=True)

    def disputes(self, project_id: int) -> "DisputeList":
        """Return the sentences on which people differ, most disagreement first."""
        return self._json("GET", f"projects/{project_id}/adjudication/", may_repeat=True)

    def dispute(self, project_id: int, sentence_id: int) -> "Case":
        """Return everybody's answers to a sentence side by side, with the differences."""
        return self._json(
            "GET", f"projects/{project_id}/adjudication/{sentence_id}/", may_repeat=True
        )

    def decide(self, project_id: int, sentence_id: int, **body: Unpack[Decide]) -> "Decided":
        """Make answers gold, all of them or none."""
        return self._json("POST", f"projects/{project_id}/adjudication/{sentence_id}/", body)

    def advice(self, project_id: int) -> "AdviceAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/advice/", may_repeat=True)

    def compute_advice(self, project_id: int, **body: Unpack[Advice]) -> "AdviceAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/advice/", body)

    def agreement(self, project_id: int) -> "AgreementList":
        """Return how far people agree on each task: overall, per pair and per label."""
        return self._json("GET", f"projects/{project_id}/agreement/", may_repeat=True)

    def compute_agreement(self, project_id: int) -> "Job":
        """Have agreement, and what suggestions do, computed anew."""
        return self._json("POST", f"projects/{project_id}/agreement/")

    def delete_answer(self, project_id: int, **body: Unpack[Answers]) -> "Erased":
        """Delete what one person answered in a project; the queue asks for it again."""
        return self._json("DELETE", f"projects/{project_id}/answers/", body, may_repeat=True)

    def create_answer(
        self, project_id: int, answer_id: int, **body: Unpack[ReviewBodyRequest]
    ) -> "Review":
        """Keep an answer, correct it, or return it to the person."""
        return self._json("POST", f"projects/{project_id}/answers/{answer_id}/", body)

    def ask_hints(self, project_id: int, ask_id: int) -> "Hints":
        """Return what earlier answers say about the words of an ask; nothing for a blind one."""
        return self._json("GET", f"projects/{project_id}/asks/{ask_id}/hints/", may_repeat=True)

    def corpora(self, project_id: int, **query: Unpack[CorporaQuery]) -> Iterator["Corpus"]:
        """Return the imports of a project."""
        return self._pages(f"projects/{project_id}/corpora/", query)

    def import_corpus(
        self, project_id: int, file: Path | bytes, **form: Unpack[Import]
    ) -> "ImportReport | Job":
        """Import a file: 201 when it is stored, 200 after a dry run, 202 when the worker has it."""
        return self._upload(f"projects/{project_id}/corpora/", {"file": file}, form)

    def delete_corpus(self, project_id: int, corpus_id: int) -> None:
        """Delete a corpus with its sentences and all answers to them."""
        return self._json("DELETE", f"projects/{project_id}/corpora/{corpus_id}/", may_repeat=True)

    def dashboard(self, project_id: int) -> "Dashboard":
        """Return curves with forecasts, the pool, calibration, drift, budget and people."""
        return self._json("GET", f"projects/{project_id}/dashboard/", may_repeat=True)

    def export(self, project_id: int, **query: Unpack[ExportQuery]) -> Iterator[bytes]:
        """Return a project's sentences and answers as a file."""
        return self._download(f"projects/{project_id}/export/", query)

    def flags(self, project_id: int, **query: Unpack[FlagsQuery]) -> Iterator["Flag"]:
        """Return what people flagged, newest first."""
        return self._pages(f"projects/{project_id}/flags/", query)

    def reopen_flag(self, project_id: int, flag_id: int) -> "Flag":
        """Open a flag again."""
        return self._json("POST", f"projects/{project_id}/flags/{flag_id}/reopen/")

    def resolve_flag(self, project_id: int, flag_id: int, **body: Unpack[Resolve]) -> "Flag":
        """Answer a flag, correct the gold, leave the sentence out, or just close it."""
        return self._json("POST", f"projects/{project_id}/flags/{flag_id}/resolve/", body)

    def forecast(self, project_id: int) -> "ForecastAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/forecast/", may_repeat=True)

    def compute_forecast(self, project_id: int) -> "ForecastAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/forecast/")

    def groups(self, project_id: int) -> "GroupList":
        """Return the groups of a project, with what is theirs."""
        return self._json("GET", f"projects/{project_id}/groups/", may_repeat=True)

    def create_group(self, project_id: int, **body: Unpack[GroupBodyRequest]) -> "Group":
        """Make a group; what is asked now is divided anew."""
        return self._json("POST", f"projects/{project_id}/groups/", body)

    def replace_group(
        self, project_id: int, group_id: int, **body: Unpack[GroupBodyRequest]
    ) -> "Group":
        """Change a group; what is asked now is divided anew."""
        return self._json("PUT", f"projects/{project_id}/groups/{group_id}/", body, may_repeat=True)

    def delete_group(self, project_id: int, group_id: int) -> None:
        """End a group; its work is everybody's again."""
        return self._json("DELETE", f"projects/{project_id}/groups/{group_id}/", may_repeat=True)

    def history(self, project_id: int, **query: Unpack[HistoryQuery]) -> Iterator["Submission"]:
        """Return one's own submissions, newest first; the first page also has what was skipped."""
        return self._pages(f"projects/{project_id}/history/", query)

    def insights(self, project_id: int) -> list["InsightStatus"]:
        """Return every insight with its age, without its result."""
        return self._json("GET", f"projects/{project_id}/insights/", may_repeat=True)

    def invite(self, project_id: int, **body: Unpack[InvitationBodyRequest]) -> "Invitation":
        """Make a link that lets one person join, once."""
        return self._json("POST", f"projects/{project_id}/invitations/", body)

    def job(self, project_id: int, job_id: int) -> "Job":
        """Return a job's state, progress and result."""
        return self._json("GET", f"projects/{project_id}/jobs/{job_id}/", may_repeat=True)

    def cancel_job(self, project_id: int, job_id: int) -> "Job":
        """Stop a job at its next safe point."""
        return self._json("POST", f"projects/{project_id}/jobs/{job_id}/cancel/", may_repeat=True)

    def job_file(self, project_id: int, job_id: int) -> Iterator[bytes]:
        """Return the file that a finished export or prediction has written."""
        return self._download(f"projects/{project_id}/jobs/{job_id}/file/")

    def ledger(self, project_id: int) -> "LedgerAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/ledger/", may_repeat=True)

    def compute_ledger(self, project_id: int) -> "LedgerAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/ledger/")

    def log(self, project_id: int, **query: Unpack[LogQuery]) -> Iterator["Log"]:
        """Return what people did, newest first."""
        return self._pages(f"projects/{project_id}/log/", query)

    def undo_log(self, project_id: int, entry_id: int) -> "Log":
        """Undo a merge or a renaming, if nothing later builds on it."""
        return self._json("POST", f"projects/{project_id}/log/{entry_id}/undo/")

    def members(self, project_id: int, **query: Unpack[MembersQuery]) -> Iterator["Member"]:
        """Return the people of a project."""
        return self._pages(f"projects/{project_id}/members/", query)

    def change_member(
        self, project_id: int, membership_id: int, **body: Unpack[PatchedMemberBodyRequest]
    ) -> "Member":
        """Give a member another role or quota."""
        return self._json(
            "PATCH", f"projects/{project_id}/members/{membership_id}/", body, may_repeat=True
        )

    def delete_member(self, project_id: int, membership_id: int) -> None:
        """Remove a member; their answers stay."""
        return self._json(
            "DELETE", f"projects/{project_id}/members/{membership_id}/", may_repeat=True
        )

    def news(self, project_id: int) -> "News":
        """Return what became of one's own flags, and the answers that curators returned."""
        return self._json("GET", f"projects/{project_id}/news/", may_repeat=True)

    def create_new(self, project_id: int) -> "News":
        """Mark what became of one's flags as seen."""
        return self._json("POST", f"projects/{project_id}/news/")

    def next(self, project_id: int) -> "Lease | None":
        """Claim the first ask that wants this person, or hand back what they hold."""
        return self._json("POST", f"projects/{project_id}/next/", may_repeat=True)

    def peek(self, project_id: int) -> "Peek | None":
        """Return the ask that would most likely come next; it is not kept for anybody."""
        return self._json("GET", f"projects/{project_id}/peek/", may_repeat=True)

    def policy(self, project_id: int) -> "PolicyAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/policy/", may_repeat=True)

    def compute_policy(self, project_id: int, **body: Unpack[Policy]) -> "PolicyAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/policy/", body)

    def compute_predict(self, project_id: int, **body: Unpack[PredictBodyRequest]) -> "Predict":
        """Return what the newest model, or that of a round, says of sentences."""
        return self._json("POST", f"projects/{project_id}/predict/", body)

    def create_prediction(self, project_id: int, **body: Unpack[Predictions]) -> "Job":
        """Queue predictions; the job's page and GET .../jobs/{job}/file/ have the file."""
        return self._json("POST", f"projects/{project_id}/predictions/", body)

    def preview(self, project_id: int) -> "PreviewAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/preview/", may_repeat=True)

    def compute_preview(self, project_id: int) -> "PreviewAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/preview/")

    def proposals(self, project_id: int) -> "ProposalsAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/proposals/", may_repeat=True)

    def create_proposal(self, project_id: int, **body: Unpack[Proposals]) -> "ProposalsAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/proposals/", body)

    def apply_proposal(self, project_id: int) -> "AppliedAnswer":
        """Make what the last replay proposes the default of new rounds."""
        return self._json("POST", f"projects/{project_id}/proposals/apply/")

    def quote(self, project_id: int) -> "QuoteAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/quote/", may_repeat=True)

    def compute_quote(self, project_id: int) -> "QuoteAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/quote/")

    def plan_by_quote(self, project_id: int, **body: Unpack[QuoteBodyRequest]) -> "PlanAnswer":
        """Make what was quoted the plan."""
        return self._json("POST", f"projects/{project_id}/quote/plan/", body)

    def quote_for(self, project_id: int, **body: Unpack[QuoteBodyRequest]) -> "Quote":
        """Return what a changed plan would cost; nothing is stored."""
        return self._json("POST", f"projects/{project_id}/quote/wish/", body)

    def quotes(self, project_id: int) -> list["KeptQuote"]:
        """Return the kept quotes with what was needed and whether they held."""
        return self._json("GET", f"projects/{project_id}/quotes/", may_repeat=True)

    def keep_quote(self, project_id: int, **body: Unpack[QuoteBodyRequest]) -> list["KeptQuote"]:
        """Keep a quote, to be judged when its targets are reached."""
        return self._json("POST", f"projects/{project_id}/quotes/", body)

    def reviews(self, project_id: int, **query: Unpack[ReviewsQuery]) -> "AnswerList":
        """Return single answers, those that the model is surest to contradict first."""
        return self._json("GET", f"projects/{project_id}/reviews/", query=query, may_repeat=True)

    def rounds(self, project_id: int, **query: Unpack[RoundsQuery]) -> Iterator["Round"]:
        """Return a project's rounds, newest first."""
        return self._pages(f"projects/{project_id}/rounds/", query)

    def create_round(self, project_id: int, **body: Unpack[RoundSettingsRequest]) -> "Round":
        """Launch a round; what the body leaves out is as the project's defaults say."""
        return self._json("POST", f"projects/{project_id}/rounds/", body)

    def round(self, project_id: int, number: int) -> "Round":
        """Return a round with its settings, what its stages found, and its progress."""
        return self._json("GET", f"projects/{project_id}/rounds/{number}/", may_repeat=True)

    def round_asks(
        self, project_id: int, number: int, **query: Unpack[RoundAsksQuery]
    ) -> Iterator["RoundAsk"]:
        """Return the asks of a round in rank order, each with its reason."""
        return self._pages(f"projects/{project_id}/rounds/{number}/asks/", query)

    def cancel_round(self, project_id: int, number: int) -> "Round":
        """Stop a round that is queued or running."""
        return self._json("POST", f"projects/{project_id}/rounds/{number}/cancel/", may_repeat=True)

    def round_model(self, project_id: int, number: int) -> Iterator[bytes]:
        """Return the model as an archive that needs no Tandem to run."""
        return self._download(f"projects/{project_id}/rounds/{number}/model/")

    def retry_round(self, project_id: int, number: int) -> "Round":
        """Queue a failed or cancelled round again; finished stages are kept."""
        return self._json("POST", f"projects/{project_id}/rounds/{number}/retry/")

    def round_defaults(self, project_id: int) -> "RoundSettings":
        """Return the settings of a round that is launched with an empty body."""
        return self._json("GET", f"projects/{project_id}/rounds/defaults/", may_repeat=True)

    def replace_default(
        self, project_id: int, **body: Unpack[RoundSettingsRequest]
    ) -> "RoundSettings":
        """Set them; what the body leaves out is as the product's defaults say."""
        return self._json("PUT", f"projects/{project_id}/rounds/defaults/", body, may_repeat=True)

    def sentences(
        self, project_id: int, **query: Unpack[SentencesQuery]
    ) -> Iterator["SentenceRow"]:
        """Return sentences in the order of import, filtered by corpus and text."""
        return self._pages(f"projects/{project_id}/sentences/", query)

    def delete_sentence(self, project_id: int, **body: Unpack[Sentences]) -> "SentencesDeleted":
        """Delete sentences with all answers to them."""
        return self._json("DELETE", f"projects/{project_id}/sentences/", body, may_repeat=True)

    def another_sentence(self, project_id: int, sentence_id: int) -> "AskedAgain":
        """Ask somebody who has not seen a sentence; they see no answer and no suggestion."""
        return self._json("POST", f"projects/{project_id}/sentences/{sentence_id}/another/")

    def borders_sentence(
        self, project_id: int, sentence_id: int, **body: Unpack[Borders]
    ) -> "Corrected":
        """Cut a sentence in two, or join it with the next one of its document."""
        return self._json("POST", f"projects/{project_id}/sentences/{sentence_id}/borders/", body)

    def sentence_history(self, project_id: int, sentence_id: int) -> "History":
        """Return every version of every answer and of gold, newest first."""
        return self._json(
            "GET", f"projects/{project_id}/sentences/{sentence_id}/history/", may_repeat=True
        )

    def replace_pool(
        self, project_id: int, sentence_id: int, **body: Unpack[LeaveOut]
    ) -> "LeftOut":
        """Leave a sentence out of the pool with a reason, or put it back without one."""
        return self._json(
            "PUT", f"projects/{project_id}/sentences/{sentence_id}/pool/", body, may_repeat=True
        )

    def words_sentence(
        self, project_id: int, sentence_id: int, **body: Unpack[Words]
    ) -> "Corrected":
        """Split, merge, insert, delete or replace words; answers follow where they can."""
        return self._json("POST", f"projects/{project_id}/sentences/{sentence_id}/words/", body)

    def skipped(self, project_id: int) -> "SkippedList":
        """Return the sentences in the pool that people skipped, with their reasons."""
        return self._json("GET", f"projects/{project_id}/skipped/", may_repeat=True)

    def suggestion_bias(self, project_id: int) -> "BiasList":
        """Return how close people come to the model and each other, shown its answers or blind."""
        return self._json("GET", f"projects/{project_id}/suggestion-bias/", may_repeat=True)

    def create_suggestion(self, project_id: int, **body: Unpack[Asking]) -> "Job":
        """Ask a listed source for suggestions; the job's result counts what was dropped."""
        return self._json("POST", f"projects/{project_id}/suggestions/", body)

    def replace_suggestion(self, project_id: int, **body: Unpack[Suggestions]) -> "Stored":
        """Store a source's suggestions: all of them, or none if one does not fit its task."""
        return self._json("PUT", f"projects/{project_id}/suggestions/", body, may_repeat=True)

    def suspects(self, project_id: int) -> "SuspectsAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/suspects/", may_repeat=True)

    def create_suspect(self, project_id: int, **body: Unpack[Suspects]) -> "SuspectsAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/suspects/", body)

    def decide_suspect(
        self, project_id: int, number: int, **body: Unpack[SuspectDecision]
    ) -> "RepairCounts":
        """Keep the answer, take what is expected, or have it asked again."""
        return self._json("POST", f"projects/{project_id}/suspects/{number}/", body)

    def create_task(self, project_id: int, **body: Unpack[NewTask]) -> "Task":
        """Add a task to a project; it is asked from the next round on."""
        return self._json("POST", f"projects/{project_id}/tasks/", body)

    def change_task(self, project_id: int, task_id: int, **body: Unpack[TaskChanges]) -> "Task":
        """Rename, hide or change a task."""
        return self._json("PATCH", f"projects/{project_id}/tasks/{task_id}/", body, may_repeat=True)

    def delete_task(self, project_id: int, task_id: int, **query: Unpack[DeleteTaskQuery]) -> None:
        """Delete a task; one with answers only with force=true."""
        return self._json(
            "DELETE", f"projects/{project_id}/tasks/{task_id}/", query=query, may_repeat=True
        )

    def labels_task(
        self, project_id: int, task_id: int, **body: Unpack[NewLabelsBodyRequest]
    ) -> "NewLabels":
        """Add labels to a task."""
        return self._json("POST", f"projects/{project_id}/tasks/{task_id}/labels/", body)

    def label(
        self, project_id: int, task_id: int, label_id: int, **query: Unpack[LabelQuery]
    ) -> "Usage":
        """Return how often a label is in use, and what merging it would do."""
        return self._json(
            "GET",
            f"projects/{project_id}/tasks/{task_id}/labels/{label_id}/",
            query=query,
            may_repeat=True,
        )

    def change_label(
        self, project_id: int, task_id: int, label_id: int, **body: Unpack[LabelChanges]
    ) -> "Label":
        """Rename, describe, move or retire a label; answers follow."""
        return self._json(
            "PATCH",
            f"projects/{project_id}/tasks/{task_id}/labels/{label_id}/",
            body,
            may_repeat=True,
        )

    def delete_label(
        self, project_id: int, task_id: int, label_id: int, **query: Unpack[DeleteLabelQuery]
    ) -> "Label | None":
        """Remove a label that nobody used; one in use is retired with retire=true."""
        return self._json(
            "DELETE",
            f"projects/{project_id}/tasks/{task_id}/labels/{label_id}/",
            query=query,
            may_repeat=True,
        )

    def merge_label(
        self, project_id: int, task_id: int, label_id: int, **body: Unpack[Merge]
    ) -> "Log":
        """Turn every use of a label into another one; the log can undo it."""
        return self._json(
            "POST", f"projects/{project_id}/tasks/{task_id}/labels/{label_id}/merge/", body
        )

    def team(self, project_id: int) -> "Team":
        """Return pace, agreement and weights of votes, as the last report found them."""
        return self._json("GET", f"projects/{project_id}/team/", may_repeat=True)

    def webhooks(self, project_id: int, **query: Unpack[WebhooksQuery]) -> Iterator["Webhook"]:
        """Return the programs that are told what happens in a project."""
        return self._pages(f"projects/{project_id}/webhooks/", query)

    def create_webhook(self, project_id: int, **body: Unpack[WebhookBodyRequest]) -> "NewWebhook":
        """Let a program be told of events; the secret of its signatures is shown this once."""
        return self._json("POST", f"projects/{project_id}/webhooks/", body)

    def change_webhook(
        self, project_id: int, webhook_id: int, **body: Unpack[ChangeWebhook]
    ) -> "Webhook":
        """Tell a program of other events, or switch it off or on."""
        return self._json(
            "PATCH", f"projects/{project_id}/webhooks/{webhook_id}/", body, may_repeat=True
        )

    def delete_webhook(self, project_id: int, webhook_id: int) -> None:
        """Remove a webhook and the list of what it was told."""
        return self._json(
            "DELETE", f"projects/{project_id}/webhooks/{webhook_id}/", may_repeat=True
        )

    def webhook_deliveries(
        self, project_id: int, webhook_id: int, **query: Unpack[WebhookDeliveriesQuery]
    ) -> Iterator["Delivery"]:
        """Return the calls of a webhook, newest first, and how each went."""
        return self._pages(f"projects/{project_id}/webhooks/{webhook_id}/deliveries/", query)

    def test_webhook(self, project_id: int, webhook_id: int) -> "Delivery":
        """Queue a call that says nothing but that it is a test."""
        return self._json("POST", f"projects/{project_id}/webhooks/{webhook_id}/test/")

    def what_ifs(self, project_id: int) -> "WhatIfsAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/what-ifs/", may_repeat=True)

    def create_what_if(self, project_id: int, **body: Unpack[WhatIfs]) -> "WhatIfsAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/what-ifs/", body)

    def working_styles(self, project_id: int) -> "StylesAnswer":
        """Return what is stored, its age, and the job that computes it again."""
        return self._json("GET", f"projects/{project_id}/working-styles/", may_repeat=True)

    def create_working_styles(self, project_id: int) -> "StylesAnswer":
        """Compute it again; the body may give settings."""
        return self._json("POST", f"projects/{project_id}/working-styles/")

    def document(self, sentence_id: int) -> "Document":
        """Return the document of a sentence, 50 sentences around it."""
        return self._json("GET", f"sentences/{sentence_id}/document/", may_repeat=True)

    def flag(self, sentence_id: int, **body: Unpack[FlagBodyRequest]) -> "Flagged":
        """Tell the curators that something is wrong with a sentence."""
        return self._json("POST", f"sentences/{sentence_id}/flag/", body)

    def submission(self, submission_id: int) -> "OwnAnswers":
        """Return a sentence with one's own answers as they are now; nothing is taken up."""
        return self._json("GET", f"submissions/{submission_id}/", may_repeat=True)

    def reopen(self, submission_id: int) -> "Lease":
        """Take one's own answers back into one's hands until a curator has decided."""
        return self._json("POST", f"submissions/{submission_id}/reopen/")

    def tokens(self, **query: Unpack[TokensQuery]) -> Iterator["Token"]:
        """Return one's own tokens, newest first; the secrets are not stored."""
        return self._pages("tokens/", query)

    def create_token(self, **body: Unpack[TokenBodyRequest]) -> "NewToken":
        """Make a token; its secret is shown this once."""
        return self._json("POST", "tokens/", body)

    def delete_token(self, token_id: int) -> None:
        """Withdraw one's own token at once."""
        return self._json("DELETE", f"tokens/{token_id}/", may_repeat=True)
