"""Named settings: the file, what a creation gets from them, and what it replaces."""

from pathlib import Path

import pytest

from hawse.api.sandboxes import SandboxCreate, SandboxLimits, SandboxPort, TemplateInfo
from hawse.wire import HawseError
from hawse_gateway.sandboxes.templates import Template, TemplateError, Templates, read_templates

FILE = """
[small]
description = "a small one"
env = { A = "1", B = "1" }
labels = { team = "x" }
network = "none"
limits = { memory = 268_435_456, cpus = 0.5 }
ports = [{ port = 8000, name = "web" }]
idle_timeout = 60
pool = 2
files = { "src/main.py" = "print()\\n" }

[python]
image = "example/python:3"
image_command = true
keep_alive = true
"""


@pytest.fixture
def templates(tmp_path: Path) -> Templates:
    path = tmp_path / "templates.toml"
    path.write_text(FILE)
    return read_templates(path)


def test_clients_see_the_templates_without_their_variables(templates: Templates) -> None:
    assert templates.describe() == [
        TemplateInfo(name="python", image="example/python:3"),
        TemplateInfo(
            name="small",
            description="a small one",
            network="none",
            limits=SandboxLimits(memory=268_435_456, cpus=0.5),
            labels={"team": "x"},
            pool=2,
        ),
    ]


def test_a_creation_gets_the_values_of_its_template(templates: Templates) -> None:
    assert templates.by_name["small"].pool == 2
    assert templates.resolve(SandboxCreate(template="small")) == SandboxCreate(
        template="small",
        env={"A": "1", "B": "1"},
        labels={"team": "x"},
        network="none",
        limits=SandboxLimits(memory=256 << 20, cpus=0.5),
        ports=[SandboxPort(port=8000, name="web")],
        idle_timeout=60.0,
    )
    resolved = templates.resolve(SandboxCreate(template="python"))
    assert templates.files("small") == {"src/main.py": "print()\n"}
    assert templates.files("python") == templates.files("unknown") == templates.files(None) == {}
    assert (resolved.image, resolved.image_command, resolved.keep_alive) == ("example/python:3", True, True)


def test_what_a_creation_gives_itself_replaces_the_values_of_the_template(templates: Templates) -> None:
    own = SandboxCreate(
        template="small",
        env={"B": "2"},
        labels={"name": "y"},
        network="host",
        limits=SandboxLimits(cpus=2.0),
        ports=[SandboxPort(port=9000)],
        idle_timeout=5.0,
        timeout=7.0,
    )
    resolved = templates.resolve(own)
    assert resolved.env == {"A": "1", "B": "2"}
    assert resolved.labels == {"team": "x", "name": "y"}
    assert resolved.limits == SandboxLimits(memory=256 << 20, cpus=2.0)
    assert (resolved.network, resolved.ports, resolved.idle_timeout, resolved.timeout) == ("host", own.ports, 5.0, 7.0)
    assert not templates.resolve(SandboxCreate(template="python", idle_timeout=5.0)).keep_alive


def test_a_creation_without_a_template_stays_as_it_is(templates: Templates) -> None:
    assert templates.resolve(SandboxCreate(env={"B": "2"})) == SandboxCreate(env={"B": "2"})


@pytest.mark.parametrize(("known", "text"), [({}, "it has none"), ({"b": Template(), "a": Template()}, "it has: a, b")])
def test_an_unknown_template_is_refused_with_the_names_that_exist(known: dict[str, Template], text: str) -> None:
    with pytest.raises(HawseError, match=text) as caught:
        Templates(known).resolve(SandboxCreate(template="c"))
    assert (caught.value.code, caught.value.details) == ("invalid_params", {"path": "$.template"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a]\nimagee = 'x'", "unknown field `imagee`"),
        ("[a]\npool = -1", "pool"),
        ("['a/b']", "regex"),
        ("[a]\nimage = '../x'", "image"),
        ("[a", "Expected ']'"),
        ("[a.files]\n'/x' = ''", "'/x': a path in the workspace"),
        ("[a.files]\n'x/../y' = ''", "'x/../y': a path in the workspace"),
        ("[a.files]\n" + "\n".join(f"f{n} = ''" for n in range(65)), "has 65 files"),
        (f"[a.files]\nf = '{'x' * 300_000}'", "has 300008 bytes as JSON"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "t.toml"
    path.write_text(text)
    with pytest.raises(TemplateError, match=r"--templates .*t\.toml: ") as caught:
        read_templates(path)
    assert problem in str(caught.value)


def test_a_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="No such file"):
        read_templates(tmp_path / "none")
