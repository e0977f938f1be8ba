"""What a service refused, put where the person can see it: at the field, or above the form."""

from django import forms

from annotation.errors import InvalidInput, Refused


def show_refusal(form: forms.Form, refusal: Refused) -> None:
    """Add every problem of a refusal to the field it is about, or to the form as a whole."""
    if not isinstance(refusal, InvalidInput):
        form.add_error(None, str(refusal))
        return
    for problem in refusal.problems:
        field = problem.path if problem.path in form.fields else None
        form.add_error(field, problem.message)
