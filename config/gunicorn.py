"""How gunicorn runs the web process; benchmarks/queue.py measures the choices."""

import gc
import os
import shutil
import socket
import sys
from typing import Any

from config.home import home

wsgi_app = "config.wsgi"
bind = os.environ.get("TANDEM_BIND", "127.0.0.1:8000")
worker_class = "config.patient_worker.PatientWorker"  # threads that no slow client holds
workers = int(os.environ.get("TANDEM_WEB_PROCESSES", "2"))
threads = int(os.environ.get("TANDEM_WEB_THREADS", "4"))
preload_app = True  # one import for all processes: a killed one is back in milliseconds
keepalive = 75  # browsers hold their connection while a person reads
timeout = 60
graceful_timeout = 20
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # heartbeats off the disk
limit_request_line = 8190
limit_request_fields = 60
accesslog = None
control_socket_disable = True  # it would stand in the home folder, one for all servers

times = home().request_times  # of all processes; those of an earlier server are gone
shutil.rmtree(times, ignore_errors=True)
times.mkdir(parents=True, exist_ok=True)
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(times)


def on_starting(server: Any) -> None:
    """Import every page and endpoint before the workers start, so that no first request waits.

    What is loaded by then is never looked at by the garbage collector again: it would write on
    every page of memory that the processes share, and so give each of them a copy.
    """
    from django.urls import get_resolver

    get_resolver().url_patterns  # noqa: B018
    gc.collect()
    gc.freeze()


def when_ready(server: Any) -> None:
    """Let the kernel keep connections until their first byte has come.

    Browsers open some in advance that stay silent; each would keep a thread waiting for seconds.
    """
    for listener in server.LISTENERS:
        if hasattr(socket, "TCP_DEFER_ACCEPT") and listener.sock.family != socket.AF_UNIX:
            listener.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 60)


def post_fork(server: Any, worker: Any) -> None:
    """Let threads take turns every half millisecond instead of five.

    Whoever holds SQLite's write lock asks for Python's after each statement, and all others wait
    for both.
    """
    sys.setswitchinterval(0.0005)


def child_exit(server: Any, worker: Any) -> None:
    """Let monitoring forget what a process that is gone was doing."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]
