from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from mtl_engine.config import EncoderConfig
from mtl_engine.encoders import new_encoder
from mtl_engine.encoders.hub import fetch_encoder
from mtl_engine.errors import EngineError


class Command(BaseCommand):
    help = "Download an encoder of the Hugging Face hub ahead of its first use, and try it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="as on the hub, for example answerdotai/ModernBERT-base")

    def handle(self, *args: Any, name: str, **options: Any) -> None:
        try:
            folder = fetch_encoder(name)
            encoder = new_encoder(EncoderConfig(name=str(folder)))
        except EngineError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"{name}: {len(encoder.layers)} layers of width {encoder.width}, in {folder}. "
            f"List it in TANDEM_ENCODERS for rounds to use it."
        )
