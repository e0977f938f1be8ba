"""Everything that people or programs can be told of, in one list."""

from dataclasses import dataclass

from mtl_engine.errors import UnknownName


@dataclass(frozen=True)
class Event:
    """Something that happens, and the mail about it.

    ``subject`` and ``text`` are keys of the catalogues, with places for ``{project}``, ``{link}``
    and what ``notify`` is given. Mails name no sentence and no answer: those stay on the server.
    """

    name: str
    title: str  # "Tell me when ...", "Call it when ..."
    subject: str = ""
    text: str = ""
    is_chosen: bool = False  # people choose on the account page whether they get the mail
    is_for_programs: bool = False  # webhooks may ask for it


EVENTS: dict[str, Event] = {}


def register_event(event: Event) -> Event:
    """Add something that people or programs can be told of."""
    EVENTS[event.name] = event
    return event


def get_event(name: str) -> Event:
    """Return the event of that name."""
    if name not in EVENTS:
        raise UnknownName("event", name, EVENTS)
    return EVENTS[name]


def mail_events() -> list[Event]:
    """Return what people may choose to get mail about."""
    return [event for event in EVENTS.values() if event.is_chosen]


def webhook_events() -> list[Event]:
    """Return what a webhook may ask for."""
    return [event for event in EVENTS.values() if event.is_for_programs]


ROUND_READY = register_event(
    Event(
        "round.ready",
        "A round is ready",
        subject="{project}: round {round} is ready",
        text="Round {round} of {project} asks for {n} sentences. The first one waits here:\n{link}",
        is_chosen=True,
        is_for_programs=True,
    )
)
TARGET_REACHED = register_event(
    Event("target.reached", "A task reaches its target", is_for_programs=True)
)
EXPORT_DONE = register_event(Event("export.done", "An export is done", is_for_programs=True))
FLAG_ANSWERED = register_event(
    Event(
        "flag.answered",
        "A sentence that I flagged is answered",
        subject="{project}: your remark was answered",
        text="A curator of {project} has dealt with a sentence that you flagged. What became of it "
        "stands among your answers (F8):\n{link}",
        is_chosen=True,
    )
)
INVITED = register_event(
    Event(
        "invitation",
        "Somebody invites me",
        subject="You are invited to {project}",
        text="{person} invites you to work on {project} as {role}. This link lets you in, once, "
        "until {until}:\n{link}\n\nIf you did not expect it, leave it alone: nothing happens then.",
    )
)
CONFIRM_ADDRESS = register_event(
    Event(
        "address.confirm",
        "I give an address",
        subject="Is this your address?",
        text="{person} on {server} wants mail here. If that is you, open this link while you are "
        "signed in:\n{link}\n\nIf not, leave it alone: you get no more mail.",
    )
)
TEST = register_event(Event("test", "Somebody sends a test"))
FOOT = "You get this mail because you asked for it under Account: {link}"
