"""Encoders of the hub: fetched by command, and missed with a remedy."""

import os
import subprocess
import sys

import httpx
import pytest
from django.core.management import CommandError, call_command

from annotation.rounds.settings import RoundSettings
from mtl_engine.config import EncoderConfig
from mtl_engine.encoders import new_encoder
from mtl_engine.errors import EngineError
from tests.mtl_engine.test_encoders import write_encoder

pytestmark = pytest.mark.any_database


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Return the folder of an encoder that the hub has under the name team/small."""
    from huggingface_hub import HfApi, constants

    write_encoder(tmp_path)
    asked = []

    def files(self, name):
        asked.append((name, constants.HF_HUB_OFFLINE))
        if name == "team/unreachable":
            raise httpx.ConnectError("no such host")  # no OSError, whatever the name suggests
        if name != "team/small":
            raise OSError(f"404: {name}")
        return [path.name for path in tmp_path.iterdir()]

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(HfApi, "list_repo_files", files)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda name, **_: str(tmp_path))
    yield tmp_path
    assert all(not is_offline for _, is_offline in asked)
    assert constants.HF_HUB_OFFLINE is True


def test_an_encoder_is_fetched_and_tried_though_downloads_are_off(hub, capsys):
    call_command("fetch_encoder", "team/small")
    assert f"team/small: 2 layers of width 16, in {hub}" in capsys.readouterr().out


def test_an_encoder_that_the_hub_does_not_have_is_an_error_with_a_remedy(hub):
    with pytest.raises(CommandError, match=r"'team/none' cannot be fetched: 404.*Check the name"):
        call_command("fetch_encoder", "team/none")


def test_a_hub_that_does_not_answer_is_an_error_with_a_remedy(hub):
    with pytest.raises(CommandError, match=r"no such host.*this machine reaches the hub"):
        call_command("fetch_encoder", "team/unreachable")


def test_an_encoder_that_is_not_on_this_machine_says_how_to_fetch_it():
    with pytest.raises(EngineError, match="manage.py fetch_encoder team/absent"):
        new_encoder(EncoderConfig(name="team/absent"))


def test_a_directory_says_what_it_lacks(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EngineError, match=r"lacks model\.safetensors, tokenizer\.json"):
        new_encoder(EncoderConfig(name=str(tmp_path)))


def test_a_round_takes_the_listed_encoders_by_name_or_directory_and_no_others(tmp_path, settings):
    settings.ENCODERS = ["jhu-clsp/mmBERT-small", str(tmp_path)]
    for name in ("bundled", "jhu-clsp/mmBERT-small", str(tmp_path)):
        chosen = RoundSettings.from_dict({"encoder": name})
        assert chosen.engine_config(seed=0).encoder.name == name
    with pytest.raises(EngineError, match=r"'team/unlisted'.*jhu-clsp/mmBERT-small"):
        RoundSettings.from_dict({"encoder": "team/unlisted"})


@pytest.mark.parametrize(("allowed", "is_offline"), [("", "1"), ("1", "0")])
def test_downloads_are_off_unless_they_are_allowed(allowed, is_offline, tmp_path):
    code = (
        "import os; import config.settings; "
        "print(os.environ['HF_HUB_OFFLINE'], os.environ['HF_HOME'])"
    )
    environment = {key: v for key, v in os.environ.items() if not key.startswith("HF_")}
    environment |= {"TANDEM_HOME": str(tmp_path), "TANDEM_DOWNLOADS": allowed}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [is_offline, str(tmp_path / "caches" / "encoders")]
