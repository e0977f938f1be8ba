import os
import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import environment


def test_a_secret_key_is_made_once_and_only_its_owner_can_read_it(tmp_path, monkeypatch):
    monkeypatch.delenv("TANDEM_SECRET_KEY", raising=False)
    key = environment.secret_key(tmp_path / "secret_key")
    assert environment.secret_key(tmp_path / "secret_key") == key
    assert stat.S_IMODE(os.stat(tmp_path / "secret_key").st_mode) == 0o600


def test_processes_that_start_together_agree_on_one_whole_secret_key(tmp_path, monkeypatch):
    monkeypatch.delenv("TANDEM_SECRET_KEY", raising=False)
    draw, others = environment.secrets.token_urlsafe, []

    def draw_while_another_starts(n):
        if not others:
            others.append(None)
            others[0] = environment.secret_key(tmp_path / "secret_key")
        return draw(n)

    monkeypatch.setattr(environment.secrets, "token_urlsafe", draw_while_another_starts)
    assert environment.secret_key(tmp_path / "secret_key") == others[0]
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


@pytest.mark.parametrize(
    "key", ["", "short", "a" * 60, "django-insecure-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a"]
)
def test_a_weak_or_known_secret_key_is_refused_with_the_remedy(key, tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_SECRET_KEY", key or "x")
    with pytest.raises(ImproperlyConfigured, match="TANDEM_SECRET_KEY"):
        environment.secret_key(tmp_path / "secret_key")


def test_a_flag_that_is_neither_yes_nor_no_is_an_error(monkeypatch):
    monkeypatch.setenv("TANDEM_HTTPS", "maybe")
    with pytest.raises(ImproperlyConfigured, match="TANDEM_HTTPS is 'maybe'"):
        environment.flag("TANDEM_HTTPS")


def test_answering_to_any_host_is_an_error_at_start(settings):
    from annotation.web.security import hosts_are_named

    settings.ALLOWED_HOSTS = ["*"]
    assert [message.id for message in hosts_are_named(None)] == ["tandem.E001"]


@pytest.mark.parametrize("value", ["", "auto", "cpu", "cuda", "cuda:1", "mps"])
def test_a_device_is_a_name_that_torch_knows(value, monkeypatch):
    monkeypatch.setenv("TANDEM_DEVICE", value)
    assert environment.device("TANDEM_DEVICE") == (value or "auto")


def test_an_unknown_device_is_refused_with_what_is_allowed(monkeypatch):
    monkeypatch.setenv("TANDEM_DEVICE", "gpu")
    with pytest.raises(ImproperlyConfigured, match="'gpu'; use auto, cpu, cuda"):
        environment.device("TANDEM_DEVICE")
