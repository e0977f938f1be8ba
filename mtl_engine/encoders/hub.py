"""Encoders of the Hugging Face hub: fetched ahead, or found missing with a remedy."""

from pathlib import Path

from mtl_engine.errors import EngineError

FILES = ["*.json", "*.txt", "*.model", "*.safetensors", "*.bin"]
OLD_WEIGHTS = ["*.bin"]  # read only where a repository has nothing newer


def fetch_encoder(name: str) -> Path:
    """Download an encoder, whether downloads are allowed otherwise or not; return its folder.

    Files of code are left where they are: nothing that comes with an encoder is ever run.
    """
    from huggingface_hub import HfApi, constants, snapshot_download

    was_offline, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, False
    try:
        files = HfApi().list_repo_files(name)
        has_safetensors = any(file.endswith(".safetensors") for file in files)
        skipped = OLD_WEIGHTS if has_safetensors else []
        return Path(snapshot_download(name, allow_patterns=FILES, ignore_patterns=skipped))
    except Exception as error:  # the hub's client lets through what its transport raises
        raise EngineError(
            f"The encoder '{name}' cannot be fetched: {error}. Check the name and that this "
            "machine reaches the hub, or copy a directory with config.json, tokenizer.json and "
            "model.safetensors here and name that."
        ) from error
    finally:
        constants.HF_HUB_OFFLINE = was_offline


def missing_encoder(name: str, error: Exception) -> EngineError:
    """Return the error of an encoder that cannot be read, with what is missing and what helps."""
    folder = Path(name)
    if folder.is_dir():
        wanted = {
            "config.json": ["config.json"],
            "model.safetensors": ["*.safetensors"],
            "tokenizer.json": ["tokenizer.json", "vocab.txt", "*.model"],
        }
        absent = [
            file for file, names in wanted.items() if not any(any(folder.glob(n)) for n in names)
        ]
        lacks = f"it lacks {', '.join(absent)}. " if absent else ""
        return EngineError(
            f"EncoderConfig key 'name' is '{name}', a directory whose encoder cannot be read: "
            f"{lacks}{error}"
        )
    return EngineError(
        f"EncoderConfig key 'name' is '{name}', which is neither 'bundled', nor a directory, nor "
        "an encoder of the hub that is on this machine: fetch it ahead (manage.py fetch_encoder "
        f"{name}), or allow downloads (TANDEM_DOWNLOADS=1). {error}"
    )
