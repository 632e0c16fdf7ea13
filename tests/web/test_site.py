"""The guard in front of a local page, over real sockets."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from relgate.eval.web.access import Access
from relgate.eval.web.guard import MAX_BODY_BYTES
from relgate.eval.web.images import Images
from relgate.eval.web.installed import require_web
from relgate.eval.web.pages import Pages, visible
from relgate.eval.web.server import door_of, listen
from relgate.rubrics.errors import RelgateError

SMALL_SITE = Path(__file__).with_name("small_site.py")
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: str


@dataclass
class Running:
    """A site in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    tokens: dict[str, str]

    def ask(self, method: str, path: str, body: str | bytes | None = None, **headers) -> Answer:
        """One request; a header's `_` is a `-`, None leaves it out."""
        sent = {"host": f"127.0.0.1:{self.port}"}
        if method == "POST":
            sent |= {"origin": f"http://127.0.0.1:{self.port}", "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        given = {name: value for name, value in sent.items() if value is not None}
        with closing(connection):
            connection.request(method, path, body, given)
            got = connection.getresponse()
            found = {name.lower(): value for name, value in got.getheaders()}
            return Answer(got.status, found, got.read().decode(errors="replace"))

    def cookie(self, role: str = "rater") -> str:
        return f"relgate-{role}-{self.port}={self.tokens[role]}"

    def stop(self, how: signal.Signals = signal.SIGINT) -> tuple[str, str]:
        self.process.send_signal(how)
        return self.process.communicate(timeout=10)


@contextmanager
def running(images: Path, host: str = "127.0.0.1", *hosts: str) -> Iterator[Running]:
    command = [sys.executable, str(SMALL_SITE), str(images), host, *hosts]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:  # noqa: S603
        links = dict(process.stdout.readline().split() for _ in range(2))
        port = urlsplit(links["rater"]).port
        tokens = {role: urlsplit(url).query.removeprefix("token=") for role, url in links.items()}
        yield Running(process, port, tokens)
        process.kill()


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> Path:
    top = tmp_path_factory.mktemp("files")
    folder = top / "images"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "red shoe.png").write_bytes(PNG)
    (folder / "note.html").write_text("<script>alert(1)</script>")
    (folder / "vector.svg").write_text("<svg onload='alert(1)'/>")
    (top / "outside.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(top / "outside.png")
    return folder


@pytest.fixture(scope="module")
def small(images) -> Iterator[Running]:
    with running(images, "127.0.0.1", "img.example.com", "*.cdn.example.com") as site:
        yield site


def test_a_link_opens_the_page_and_its_token_leaves_the_address(small):
    got = small.ask("GET", f"/?token={small.tokens['rater']}&from=a%20b")
    assert got.status == 200
    assert 'content="0;url=/?from=a+b"' in got.body
    assert small.tokens["rater"] not in got.body
    held, *marks = got.headers["set-cookie"].split("; ")
    assert {mark.lower() for mark in marks} == {"httponly", "path=/", "samesite=strict"}
    assert small.ask("GET", "/", cookie=held).body.startswith('{"roles":["rater"]')


def test_the_address_after_the_token_stays_on_this_site(small):
    got = small.ask("GET", f"//other.example/?token={small.tokens['rater']}")
    assert 'content="0;url=/other.example/"' in got.body


@pytest.mark.parametrize("cookie", [None, "", "relgate-rater-{port}=wrong", "relgate-rater={t}",
                                    "relgate-owner-{port}={t}"])  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/owner", "/static/page.css", "/images/x.png", "/no-such",
                                  "/?token=wrong", "/?token=", "/?token=%ff"])  # fmt: skip
def test_nothing_opens_without_the_token(path, cookie, small):
    given = cookie and cookie.format(port=small.port, t=small.tokens["rater"])
    got = small.ask("GET", path, cookie=given)
    assert got.status == 403
    assert "opens with the link" in got.body


def test_a_token_of_one_role_does_not_open_the_page_of_another(small):
    got = small.ask("GET", "/owner", cookie=small.cookie("rater"))
    assert (got.status, got.body) == (403, "this page is for the owner; open the owner's link\n")
    assert small.ask("GET", "/owner", cookie=small.cookie("owner")).status == 200
    both = f"{small.cookie('owner')}; {small.cookie('rater')}"
    assert '"roles":["owner","rater"]' in small.ask("GET", "/", cookie=both).body


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "", "127.0.0.2",
     "192.168.1.2:{port}", "127.0.0.1@evil.example:{port}", "[::1", "localhost.:{port}"],
)  # fmt: skip
def test_another_host_name_is_refused(host, small):
    """DNS rebinding: a name of another site that points at this machine."""
    got = small.ask("GET", "/", host=host.format(port=small.port), cookie=small.cookie())
    assert got.status in {400, 421}
    assert "kept" not in got.body


@pytest.mark.parametrize(
    "host", ["localhost:{port}", "LOCALHOST:{port}", "127.0.0.1:9000", "[::1]:1"]
)
def test_names_of_this_machine_open_it_also_through_a_tunnel(host, small):
    got = small.ask("GET", "/", host=host.format(port=small.port), cookie=small.cookie())
    assert got.status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"origin": ""},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://localhost:{port}"},
        {"origin": "http://127.0.0.1:{port}.evil.example"},
        {"origin": "file://127.0.0.1:{port}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_another_origin_may_change_nothing(method, headers, small):
    before = small.ask("GET", "/", cookie=small.cookie()).body
    own = {"origin": f"http://127.0.0.1:{small.port}"}
    given = own | {k: v and v.format(port=small.port) for k, v in headers.items()}
    got = small.ask(method, "/note", '{"text": "x"}', cookie=small.cookie(), **given)
    assert (got.status, got.body) == (403, "Another site may not send anything here.\n")
    assert small.ask("GET", "/", cookie=small.cookie()).body == before


def test_our_own_page_may(small):
    got = small.ask(
        "POST", "/note", '{"text": "x"}', cookie=small.cookie(), sec_fetch_site="same-origin"
    )
    assert got.status == 200


@pytest.mark.parametrize(
    ("body", "more", "status", "said"),
    [
        ("{", {}, 422, "Invalid JSON"),
        ('{"text": 1}', {}, 422, "text: Input should be a valid string"),
        ("{}", {}, 422, "text: Field required"),
        ('{"text": "x"}', {"content_type": "text/plain"}, 415, "send JSON"),
        ('{"text": "x"}', {"content_type": None}, 415, "send JSON"),
        (b"\xff", {}, 422, "Invalid JSON"),
    ],
)
def test_a_body_that_is_none_is_said_in_one_line(body, more, status, said, small):
    got = small.ask("POST", "/note", body, cookie=small.cookie(), **more)
    assert got.status == status
    assert said in got.body
    assert len(got.body.splitlines()) == 1


@pytest.mark.parametrize("stated", [True, False])
def test_a_body_that_is_too_long_is_cut(stated, small):
    before = small.ask("GET", "/", cookie=small.cookie()).body
    body = b'{"text": "' + b"x" * MAX_BODY_BYTES + b'"}'
    with suppress(ConnectionError):  # the server may hang up on what is still being sent
        sent = body if stated else iter([body])
        assert small.ask("POST", "/note", sent, cookie=small.cookie()).status == 413
    assert small.ask("GET", "/", cookie=small.cookie()).body == before


@pytest.mark.parametrize(("how", "status"), [("input", 400), ("platform", 500)])
def test_an_error_of_ours_is_one_line(how, status, small):
    got = small.ask("POST", f"/fails/{how}", cookie=small.cookie())
    assert got.status == status
    assert got.body.count("\n") == 1


@pytest.mark.parametrize(
    ("path", "cookie"), [("/", True), ("/", False), ("/no-such", True), ("/static/page.css", True)]
)
def test_every_answer_has_the_headers(path, cookie, small):
    got = small.ask("GET", path, cookie=small.cookie() if cookie else None)
    policy = got.headers["content-security-policy"].split("; ")
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "img-src 'self' https://img.example.com https://*.cdn.example.com" in policy
    assert "frame-ancestors 'none'" in policy
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["cache-control"] == "no-store"
    assert "server" not in got.headers


@pytest.mark.parametrize("name", ["page.css", "web.css", "icon.svg"])
def test_static_files_are_served(name, small):
    assert small.ask("GET", f"/static/{name}", cookie=small.cookie()).status == 200


@pytest.mark.parametrize("name", ["page.html", "../guard.py", "%2e%2e/guard.py", "x.css", "nodot"])
def test_nothing_else_is_served_as_static(name, small):
    assert small.ask("GET", f"/static/{name}", cookie=small.cookie()).status == 404


def test_an_image_of_the_folder_is_served(small):
    got = small.ask("GET", "/images/deep/red%20shoe.png", cookie=small.cookie())
    assert (got.status, got.headers["content-type"]) == (200, "image/png")


@pytest.mark.parametrize(
    "name",
    ["../outside.png", "%2e%2e/outside.png", "link.png", "note.html", "vector.svg", "deep", "",
     "/etc/passwd", "no.png", "a%00.png", "x" * 300 + ".png"],
)  # fmt: skip
def test_no_image_comes_from_outside_the_folder(name, small):
    assert small.ask("GET", f"/images/{name}", cookie=small.cookie()).status == 404


@pytest.mark.parametrize(
    ("value", "address"),
    [
        ("deep/red shoe.png", "/images/deep/red%20shoe.png"),
        ("https://img.example.com/a.png?x=1", "https://img.example.com/a.png?x=1"),
        ("https://a.cdn.example.com/a.png", "https://a.cdn.example.com/a.png"),
        ("https://cdn.example.com/a.png", None),
        ("http://img.example.com/a.png", None),
        ("https://img.example.com.evil.example/a.png", None),
        ("https://img.example.com@evil.example/a.png", None),
        ("//img.example.com/a.png", None),
        ("javascript:alert(1)", None),
        ("data:image/png;base64,AAAA", None),
        ("../outside.png", None),
        ("https://[", None),
        ("", None),
    ],
)
def test_what_a_page_may_load(value, address, images):
    allowed = Images.allowed(images, ["IMG.example.com", "*.cdn.example.com"])
    assert allowed.address(value) == address
    if value.startswith("http"):
        assert Images().address(value) is None  # by default nothing is loaded from anywhere


@pytest.mark.parametrize(
    "host",
    ["https://img.example.com", "*", "img", "a b.example", "x.example/a", "'unsafe-inline'",
     "x.example; script-src *"],
)  # fmt: skip
def test_a_host_that_would_widen_the_policy_is_refused(host):
    with pytest.raises(RelgateError, match="is no host"):
        Images.allowed(None, [host])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_clean_and_the_token_is_in_no_log(how, images):
    with running(images) as site:
        site.ask("GET", f"/?token={site.tokens['rater']}")
        site.ask("GET", "/?token=wrong")
        site.ask("POST", "/note", '{"text": "x"}', cookie=site.cookie())
        out, err = site.stop(how)
    assert (out, err) == ("kept 1\n", "")
    assert site.process.returncode == 0


def test_listening_to_a_network_needs_the_flag():
    with pytest.raises(RelgateError, match=r"--allow-network .* plain HTTP"):
        listen("0.0.0.0")  # noqa: S104 - refused


def test_on_a_network_numeric_addresses_open_it_and_names_do_not(images):
    with running(images, "0.0.0.0") as site:  # noqa: S104 - for this test
        assert site.ask("GET", "/", host="192.168.1.2:1", cookie=site.cookie()).status == 200
        assert site.ask("GET", "/", host="evil.example", cookie=site.cookie()).status == 421


def test_a_port_that_is_taken_is_said():
    with listen() as first, pytest.raises(RelgateError, match="name another --port"):
        listen(port=door_of(first).port)


def test_an_address_of_nobody_is_said():
    with pytest.raises(RelgateError, match="is no address of this machine"):
        listen("no such host", network=True)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch):
    require_web()
    monkeypatch.setattr("relgate.eval.web.installed.find_spec", lambda _name: None)
    with pytest.raises(RelgateError, match=r"starlette and uvicorn; pip install 'relgate\[web\]'"):
        require_web()


def test_tokens_are_new_each_time_and_stay_out_of_messages():
    first, second = Access.new("rater"), Access.new("rater")
    assert first.tokens["rater"] != second.tokens["rater"]
    assert len(first.tokens["rater"]) == 32
    assert first.tokens["rater"] not in repr(first)


def test_text_from_data_is_escaped_and_its_controls_are_shown():
    text = Pages().text("entry.html", goal='"><script>\u202e\u200d\x00')
    assert "&#34;&gt;&lt;script&gt;\\u202e\\u200d\\x00" in text
    assert visible("\u200fa\u202eb") == "\u200fa\\u202eb"
