"""What a server's tables hold, read by plain SQL and in words that outlive the tables.

A migration that renames a column changes the query here; the contents stay equal.
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def read_contents(database: Path) -> dict[str, Any]:
    """Return people, tokens, studies, and projects with all that belongs to them."""
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row

    def rows(query: str, *values: Any, plain: tuple[str, ...] = ()) -> Rows:
        found = [dict(row) for row in connection.execute(query, values)]
        for row in found:
            for name in plain:
                row[name] = json.loads(row[name])
        return found

    contents = {
        "people": rows(
            "SELECT username, is_superuser, is_active, password FROM auth_user ORDER BY username"
        ),
        "tokens": rows(
            "SELECT username AS user, name, scope, token_hash FROM annotation_apitoken t "
            "JOIN auth_user u ON u.id = t.user_id ORDER BY token_hash"
        ),
        "projects": {
            project["name"]: _read_project(rows, project)
            for project in rows("SELECT * FROM annotation_project ORDER BY name")
        },
    }
    connection.close()
    return contents


def read_schema(database: Path) -> dict[str, list[str]]:
    """Return the columns and constraints of every table, in whatever order, and every index."""
    with sqlite3.connect(database) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        found = {name: sorted(_clauses(sql)) for name, sql in made if "sqlite_" not in name}
    connection.close()
    return found


def _clauses(sql: str) -> Iterator[str]:
    """Yield what stands between the outermost commas of a CREATE statement's brackets."""
    begin, depth = sql.index("(") + 1, 0
    for at, sign in enumerate(sql[begin:], begin):
        depth += (sign == "(") - (sign == ")")
        if depth < 0 or (depth == 0 and sign == ","):
            yield sql[begin:at].strip()
            begin = at + 1
            if depth < 0:
                yield sql[begin:].strip()  # the condition of an index
                return


SENTENCE = (
    "SELECT c.name || '/' || s.key FROM annotation_sentence s "
    "JOIN annotation_corpus c ON c.id = s.corpus_id WHERE s.id = "
)
PERSON = "SELECT username FROM auth_user WHERE id = "


def _read_project(rows: Any, project: dict[str, Any]) -> dict[str, Any]:
    pk = project["id"]
    own_task = "t.project_id = ?"
    tables: dict[str, Any] = {
        "settings": {
            name: project[name]
            for name in ("description", "guidelines", "language", "overlap", "lease_minutes")
        },
        "tasks": rows(
            "SELECT name, kind, position, is_open, is_nested, pairs, guidelines, target_score, "
            "(SELECT p.name FROM annotation_task p WHERE p.id = t.parent_id) AS parent "
            f"FROM annotation_task t WHERE {own_task} ORDER BY position",
            pk,
            plain=("pairs",),
        ),
        "labels": rows(
            "SELECT t.name AS task, l.name, l.position, l.colour, l.key FROM annotation_label l "
            f"JOIN annotation_task t ON t.id = l.task_id WHERE {own_task} "
            "ORDER BY t.id, l.position, l.id",
            pk,
        ),
        "members": rows(
            f"SELECT ({PERSON} m.user_id) AS user, role FROM annotation_membership m "
            "WHERE project_id = ? ORDER BY user",
            pk,
        ),
        "invitations": rows(
            f"SELECT role, note, token_hash, ({PERSON} i.accepted_by_id) AS accepted_by "
            "FROM annotation_invitation i WHERE project_id = ? ORDER BY token_hash",
            pk,
        ),
        "corpora": rows(
            "SELECT name, format, file_name, file_hash, n_sentences FROM annotation_corpus "
            "WHERE project_id = ? ORDER BY name",
            pk,
        ),
        "sentences": rows(
            f"SELECT ({SENTENCE} x.id) AS sentence, position, text, tokens, offsets, is_test "
            "FROM annotation_sentence x WHERE project_id = ? ORDER BY sentence",
            pk,
            plain=("tokens", "offsets"),
        ),
    }
    for name, table, who, more in [
        ("answers", "annotation_annotation", "author_id", "version, created_at"),
        ("gold", "annotation_gold", "decided_by_id", "version, source"),
    ]:
        tables[name] = rows(
            f"SELECT a.id, ({SENTENCE} a.sentence_id) AS sentence, t.name AS task, "
            f"({PERSON} a.{who}) AS person, value, {more} FROM {table} a "
            f"JOIN annotation_task t ON t.id = a.task_id WHERE {own_task} "
            "ORDER BY sentence, task, person",
            pk,
            plain=("value",),
        )
        version_table, key = f"{table}version", table.removeprefix("annotation_")
        for row in tables[name]:
            earlier = rows(
                f"SELECT version, value FROM {version_table} WHERE {key}_id = ? ORDER BY version",
                row.pop("id"),
                plain=("value",),
            )
            row["earlier"] = [[version["version"], version["value"]] for version in earlier]
    tables["suggestions"] = rows(
        f"SELECT ({SENTENCE} a.sentence_id) AS sentence, t.name AS task, value, confidence, "
        "CASE WHEN a.round_id IS NULL THEN source ELSE 'round ' || "
        "(SELECT number FROM annotation_round r WHERE r.id = a.round_id) END AS source, "
        "(SELECT number FROM annotation_round r WHERE r.id = a.round_id) AS round "
        f"FROM annotation_suggestion a JOIN annotation_task t ON t.id = a.task_id WHERE {own_task} "
        "ORDER BY sentence, task",
        pk,
        plain=("value",),
    )
    tables["flags"] = rows(
        f"SELECT ({SENTENCE} f.sentence_id) AS sentence, ({PERSON} f.author_id) AS person, comment "
        "FROM annotation_flag f JOIN annotation_sentence s ON s.id = f.sentence_id "
        "WHERE s.project_id = ? ORDER BY f.id",
        pk,
    )
    tables["rounds"] = rows(
        "SELECT number, state, message, config, stages FROM annotation_round "
        "WHERE project_id = ? ORDER BY number",
        pk,
        plain=("config", "stages"),
    )
    tables["asks"] = rows(
        "SELECT (SELECT number FROM annotation_round r WHERE r.id = q.round_id) AS round, "
        f"q.is_current, a.rank, ({SENTENCE} a.sentence_id) AS sentence, a.tasks, a.overlap, "
        "a.n_answers, a.n_leases, a.is_open, a.is_random, a.is_blind, a.reason "
        "FROM annotation_ask a JOIN annotation_queue q ON q.id = a.queue_id "
        "WHERE q.project_id = ? ORDER BY q.id, a.rank",
        pk,
        plain=("tasks", "reason"),
    )
    tables["leases"] = rows(
        f"SELECT ({PERSON} l.annotator_id) AS person, ({SENTENCE} a.sentence_id) AS sentence, "
        "l.state, l.skip_reason, l.draft, l.draft_version FROM annotation_lease l "
        "JOIN annotation_ask a ON a.id = l.ask_id WHERE l.project_id = ? ORDER BY l.id",
        pk,
    )
    for lease in tables["leases"]:
        lease["draft"] = json.loads(lease["draft"] or "null")
    tables["submissions"] = rows(
        f"SELECT ({PERSON} s.annotator_id) AS person, ({SENTENCE} a.sentence_id) AS sentence, "
        "s.number, s.key, s.seconds, s.actions, s.suggestions FROM annotation_submission s "
        "JOIN annotation_lease l ON l.id = s.lease_id JOIN annotation_ask a ON a.id = l.ask_id "
        "WHERE s.project_id = ? ORDER BY s.id",
        pk,
        plain=("actions", "suggestions"),
    )
    tables["jobs"] = rows(
        "SELECT kind, state, n_done, n_total FROM annotation_job WHERE project_id = ? ORDER BY id",
        pk,
    )
    return tables
