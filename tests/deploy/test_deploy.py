"""The files of deploy/: proxies in front of a real server, and units that systemd understands."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.releases.server import Server, Session, free_port, sign_up

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
FOUND = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tandem-test-proxies"
NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u;
    scgi_temp_path {folder}/s;
    {own}
}}
"""

pytestmark = pytest.mark.xdist_group("deploy")


def find_program(name):
    """Return a program, unpacked from the distribution's package where it is not installed."""
    subprocess.run(["sh", str(Path(__file__).parent / "get_proxies.sh"), str(FOUND)], check=False)
    unpacked = FOUND / name / "usr"
    for path in (shutil.which(name), unpacked / "sbin" / name, unpacked / "bin" / name):
        if path and os.access(path, os.X_OK):
            return str(path)
    message = f"{name} is neither installed nor among the distribution's packages."
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
         "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    own = {"TANDEM_HTTPS": "1", "TANDEM_HOSTS": "localhost,127.0.0.1"}
    with Server(tmp_path_factory.mktemp("home"), more=own) as server:
        yield server


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(request, server, certificate, tmp_path_factory):
    """The https address of a proxy in front of the server, and its http address."""
    folder = tmp_path_factory.mktemp(request.param)
    ports = {"https": free_port(), "http": free_port()}
    program = find_program(request.param)
    backend = server.address.removeprefix("http://")
    if request.param == "nginx":
        command = [program, "-c", _nginx(folder, ports, backend, certificate), "-p", str(folder)]
    else:
        config = _caddy(folder, ports, backend, certificate)
        command = [program, "run", "--adapter", "caddyfile", "--config", config]
    own = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    process = subprocess.Popen(command, env=own, stderr=subprocess.PIPE)
    try:
        _wait_for(ports["https"], process)
        yield ports, ssl.create_default_context(cafile=certificate / "cert.pem")
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _nginx(folder, ports, backend, certificate):
    own = (DEPLOY / "nginx.conf").read_text()
    for before, after in [
        ("127.0.0.1:8000", backend),
        ("listen 80;", f"listen 127.0.0.1:{ports['http']};"),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{ports['https']} ssl http2;"),
        ("tandem.example.org", "localhost"),
        ("/etc/tandem/fullchain.pem", str(certificate / "cert.pem")),
        ("/etc/tandem/privkey.pem", str(certificate / "key.pem")),
        ("520m", "1m"),
    ]:
        assert before in own, before
        own = own.replace(before, after)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, own=own))
    return str(folder / "nginx.conf")


def _caddy(folder, ports, backend, certificate):
    own = (DEPLOY / "Caddyfile").read_text()
    keys = f"tls {certificate / 'cert.pem'} {certificate / 'key.pem'}"
    for before, after in [
        ("{\n\tservers", f"{{\n\tadmin off\n\thttp_port {ports['http']}\n"
         f"\thttps_port {ports['https']}\n\tservers"),
        ("tandem.example.org {", f"localhost {{\n\t{keys}"),
        ("127.0.0.1:8000", backend),
        ("520MB", "1MB"),
    ]:  # fmt: skip
        assert before in own, before
        own = own.replace(before, after)
    (folder / "Caddyfile").write_text(own)
    return str(folder / "Caddyfile")


def _wait_for(port, process):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read().decode()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("The proxy did not start.")


def test_people_sign_in_over_tls(proxy, server):
    ports, trust = proxy
    sign_up(server, "admin", through=_session(ports, trust))
    page = _session(ports, trust).sign_in("admin").get("/account/")
    assert "admin" in page


def test_cookies_are_secure_and_browsers_are_told_to_stay_with_tls(proxy):
    ports, trust = proxy
    address = f"https://localhost:{ports['https']}/sign-in/"
    with urllib.request.urlopen(address, context=trust) as response:
        assert response.headers["Strict-Transport-Security"].startswith("max-age=31536000")
        assert "Secure" in response.headers["Set-Cookie"]


def test_plain_http_is_sent_to_tls(proxy):
    ports, _ = proxy
    with socket.create_connection(("127.0.0.1", ports["http"])) as plain:
        plain.sendall(b"GET /sign-in/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = plain.recv(4096).decode()
    assert re.match(r"HTTP/1.1 30[18] ", answer)
    assert re.search(r"(?i)location: https://localhost", answer)


def test_a_body_that_is_too_large_is_refused_by_the_proxy(proxy):
    ports, trust = proxy
    address = f"https://localhost:{ports['https']}/sign-in/"
    cookie = {"Cookie": f"csrftoken={'x' * 32}", "Referer": address}  # so that the body is read
    request = urllib.request.Request(address, data=b"x" * 2_000_000, headers=cookie)
    with pytest.raises((urllib.error.HTTPError, OSError)) as caught:
        urllib.request.urlopen(request, context=trust, timeout=30)
    assert getattr(caught.value, "code", 413) in (413, 502)  # or the connection is cut


@pytest.mark.parametrize("proxy", ["nginx"], indirect=True)  # Caddy hands them on as they come
def test_slow_uploads_hold_no_thread_of_the_server(proxy):
    ports, trust = proxy
    slow = []
    for _ in range(60):
        connection = trust.wrap_socket(
            socket.create_connection(("127.0.0.1", ports["https"])), server_hostname="localhost"
        )
        connection.sendall(
            b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername="
        )
        slow.append(connection)
    started = time.monotonic()
    for _ in range(10):
        _session(ports, trust).get("/sign-in/")
    assert time.monotonic() - started < 20
    for connection in slow:
        connection.close()


def _session(ports, trust):
    return Session(f"https://localhost:{ports['https']}", trust=trust)


def test_systemd_understands_the_units(tmp_path):
    if shutil.which("systemd-analyze") is None:
        if os.environ.get("CI"):
            pytest.fail("systemd-analyze is missing.")
        pytest.skip("systemd-analyze is missing.")
    for path in DEPLOY.glob("tandem-*"):
        text = path.read_text().replace("/opt/tandem/bin/tandem", shutil.which("true"))
        (tmp_path / path.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True, text=True,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if "tandem-" in line]
    assert said == []


def test_units_and_containers_run_commands_that_exist():
    text = "".join(path.read_text() for path in DEPLOY.glob("*.service"))
    text += (ROOT / "Dockerfile").read_text()
    commands = {p.stem for p in (ROOT / "annotation" / "management" / "commands").glob("*.py")}
    used = set(re.findall(r"bin/tandem (\w+)", text))
    used |= set(re.findall(r'"tandem", "(\w+)"', text))
    assert used
    assert used <= commands


def test_images_are_pinned_by_digest():
    text = (ROOT / "Dockerfile").read_text() + (ROOT / "compose.yaml").read_text()
    images = re.findall(r"^(?:FROM| +image:) (\S+)", text, re.MULTILINE)
    assert len(images) == 2
    assert all(re.fullmatch(r"[\w.:-]+@sha256:[0-9a-f]{64}", image) for image in images), images


def test_every_container_has_limits_and_is_started_again():
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name, service in services.items():
        assert service["restart"] == "unless-stopped", name
        assert service["mem_limit"], name
        assert service["logging"]["options"]["max-size"], name
        if name != "database":
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name
            assert service["security_opt"] == ["no-new-privileges:true"], name
