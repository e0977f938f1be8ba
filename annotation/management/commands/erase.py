from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError

from annotation.archive.tables import forget_deleted
from annotation.corpora.selectors import find_corpus
from annotation.erasure.services import (
    anonymise,
    delete_answers,
    delete_corpus,
    delete_sentences,
    erase,
    set_active,
)
from annotation.management import RefusingCommand
from annotation.projects.selectors import find_project, find_user
from annotation.projects.services import delete_project


class Command(RefusingCommand):
    help = "Remove a project, a corpus, sentences, answers or a person for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument(
            "--vacuum", action="store_true",
            help="write the SQLite file anew: once, for what older versions left in it",
        )  # fmt: skip
        what = parser.add_subparsers(dest="what", required=True)
        one = what.add_parser("project", help="with its sentences, answers and files")
        one.add_argument("project", help="name or id")
        one = what.add_parser("corpus", help="with all answers to it")
        one.add_argument("project")
        one.add_argument("corpus")
        one = what.add_parser("sentences", help="with all answers to them")
        one.add_argument("project")
        one.add_argument("sentences", type=int, nargs="+", metavar="ID")
        one = what.add_parser("answers", help="of one person in a project")
        one.add_argument("project")
        one.add_argument("person")
        one = what.add_parser("person")
        one.add_argument("person")
        one.add_argument(
            "--how", choices=tuple(HOW), default="anonymise",
            help="deactivate: the account is closed; anonymise: the name goes, the answers stay; "
            "keep-answers: everything but the answers goes; with-answers: everything goes",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        words = _words(options)
        if not options["yes"] and input(f"Remove {words} for good? Type yes: ") != "yes":
            raise CommandError("Nothing was removed.")
        _carry_out(options)
        forget_deleted(is_thorough=options["vacuum"])
        self.stdout.write(f"Removed: {words}. Backups made before still have it.")


HOW: dict[str, Callable[[Any], Any]] = {
    "deactivate": lambda person: set_active(person=person, is_active=False, actor=None),
    "anonymise": lambda person: anonymise(person=person, actor=None),
    "keep-answers": lambda person: erase(person=person, keeps_answers=True, actor=None),
    "with-answers": lambda person: erase(person=person, keeps_answers=False, actor=None),
}


def _words(options: dict[str, Any]) -> str:
    if options["what"] == "person":
        return f"person '{options['person']}' ({options['how']})"
    names = [str(options[key]) for key in ("corpus", "sentences", "person") if options.get(key)]
    return f"{options['what']} {' '.join([*names, 'of'] if names else [])} '{options['project']}'"


def _carry_out(options: dict[str, Any]) -> None:
    if options["what"] == "person":
        HOW[options["how"]](find_user(options["person"]))
        return
    project = find_project(options["project"])
    if options["what"] == "project":
        delete_project(project=project)
    elif options["what"] == "corpus":
        delete_corpus(corpus=find_corpus(project, options["corpus"]), actor=None)
    elif options["what"] == "sentences":
        delete_sentences(project=project, ids=options["sentences"], actor=None)
    else:
        delete_answers(project=project, person=find_user(options["person"]), actor=None)
