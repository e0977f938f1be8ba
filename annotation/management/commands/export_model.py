import shutil
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotation.management import RefusingCommand
from annotation.predictions.model_files import archive_name, write_model, zip_folder
from annotation.projects.selectors import find_project
from annotation.rounds.selectors import find_model
from annotation.rounds.services import share_files
from annotation.rounds.workspace import Workspace
from mtl_engine.atomic import replaced_file, replaced_folder


class Command(RefusingCommand):
    help = "Write a round's model as a folder, or a .zip, that needs no Tandem to run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="name or id")
        parser.add_argument("--round", type=int, help="whose model; the newest, if not stated")
        parser.add_argument("--onnx", action="store_true", help="also for onnxruntime")
        parser.add_argument("-o", "--output", required=True, type=Path, metavar="FOLDER|FILE.zip")

    def handle(self, *args: Any, **options: Any) -> None:
        round = find_model(find_project(options["project"]), options["round"])
        output: Path = options["output"]
        workspace = Workspace.of(round)
        if options["onnx"]:
            from annotation.predictions.model_files import write_onnx  # loads torch

            for line in write_onnx(round):
                self.stdout.write(line)
            share_files(round=round, workspace=workspace)
        onnx = workspace.onnx if workspace.onnx.exists() else None
        folder = output.with_suffix("") if output.suffix == ".zip" else output
        with replaced_folder(folder) as new:
            write_model(round, new, onnx=onnx)
        if output.suffix == ".zip":
            with replaced_file(output) as file:
                zip_folder(folder, file, root=archive_name(round))
            shutil.rmtree(folder)
        self.stdout.write(f"Wrote the model of round {round.number} to {output}.")
