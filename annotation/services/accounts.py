"""A person's own account."""

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from annotation.answers import Problem
from annotation.errors import InvalidInput


def set_password(*, user: Any, password: str) -> None:
    """Give a person a new password, if it is not easy to guess."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput([Problem("password", words) for words in error.messages]) from error
    user.set_password(password)
    user.save(update_fields=["password"])
