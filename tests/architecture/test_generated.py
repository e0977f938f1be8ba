"""What is generated is up to date."""

import yaml

from tests.tandem_client.generate import DESCRIPTION, TARGET, generate


def test_the_client_was_generated_from_the_present_description():
    whole = yaml.safe_load(DESCRIPTION.read_text())
    assert generate(whole) == TARGET.read_text(), "The API has changed: run `make api`"
