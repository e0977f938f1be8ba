"""How gunicorn runs the web process; benchmarks/queue.py measures the choices."""

import os
from typing import Any

wsgi_app = "config.wsgi"
bind = os.environ.get("TANDEM_BIND", "127.0.0.1:8000")
worker_class = "gthread"
workers = int(os.environ.get("TANDEM_WEB_PROCESSES", "2"))
threads = int(os.environ.get("TANDEM_WEB_THREADS", "4"))
preload_app = True  # one import for all processes: a killed one is back in milliseconds
keepalive = 75  # browsers hold their connection while a person reads
timeout = 60
graceful_timeout = 20
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # heartbeats off the disk
accesslog = None
control_socket_disable = True  # it would stand in the home folder, one for all servers


def on_starting(server: Any) -> None:
    """Import every page and endpoint before the workers start, so that no first request waits."""
    from django.urls import get_resolver

    get_resolver().url_patterns  # noqa: B018
