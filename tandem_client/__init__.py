"""Tandem's REST API from Python: standard library only.

client = Client("http://localhost:8000", secret)
while lease := client.next(project_id):
    client.submit(lease["id"], token=lease["token"], answers={"Entities": [[0, 1, "PER"]]})
"""

from tandem_client.client import Client
from tandem_client.transport import ApiError

__all__ = ["ApiError", "Client"]
