"""The frame of the annotate page."""

import gzip

import pytest

pytestmark = [pytest.mark.any_database, pytest.mark.django_db]


def test_the_page_is_sent_compressed_to_whoever_can_read_that(client, harbour, ada):
    client.force_login(ada)
    url = f"/projects/{harbour.pk}/annotate/"
    packed = client.get(url, headers={"accept-encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert b'id="task-bars"' in gzip.decompress(packed.content)
    assert b'id="task-bars"' in client.get(url).content
