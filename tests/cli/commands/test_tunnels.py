"""`hawse tunnel` with a live gateway."""

import json
import urllib.error
import urllib.request

import pytest

from hawse.cli import main
from tests.support.stack import Stack


def test_a_tunnel_is_created_listed_and_removed(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tunnel", "create", "8000", "--name", "shop"]) == 0
    assert capsys.readouterr().out == f"http://t-shop.localhost:{gateway.port}/\n"
    assert main(["tunnel", "ls"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["ID", "PORT"]
    assert row.split() == ["shop", "8000", "never", "0", f"http://t-shop.localhost:{gateway.port}/"]
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(f"{gateway.base}/t/shop/")
    assert raised.value.code in (410, 502), "nothing listens"

    assert main(["tunnel", "create", "8000", "--name", "shop", "--expires", "8h", "--json"]) == 0
    renewed = json.loads(capsys.readouterr().out)
    assert renewed["expires"] - renewed["created"] > 7 * 3600
    assert main(["tunnel", "create", "8001", "--name", "shop"]) == 1
    assert "'shop' is taken" in capsys.readouterr().err

    assert main(["tunnel", "create", "22", "--tcp"]) == 1
    assert "--tunnel-ports" in capsys.readouterr().err
    assert main(["tunnel", "create", "22", "--tls", "--name", "ssh"]) == 1
    assert "--tunnel-tls-port" in capsys.readouterr().err

    assert main(["tunnel", "rm", "--yes", "shop"]) == 0
    assert main(["tunnel", "ls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["tunnel", "rm", "--yes", "shop"]) == 1
    assert "no tunnel 'shop'" in capsys.readouterr().err
