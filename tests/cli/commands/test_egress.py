"""`hawse egress` with a live gateway whose sandboxes have another network. The rest is in tests/integration."""

import json

import pytest

from hawse.cli import main
from tests.support.stack import Stack


def test_a_network_that_is_not_filtered_is_reported(gateway: Stack, capfd: pytest.CaptureFixture[str]) -> None:
    assert gateway.base
    assert main(["egress", "show"]) == 0
    assert capfd.readouterr().out == "local: the network is not filtered\n"
    assert main(["egress", "show", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["id"] == "local"
    assert main(["egress", "set", "--allow", "a.test"]) == 1
    assert "invalid_params: the network of this sandbox is not `filtered`" in capfd.readouterr().err
    assert main(["egress", "watch"]) == 1
    assert "not `filtered`" in capfd.readouterr().err
    assert main(["egress", "set", "--secret", "a", "--no-secrets"]) == 2
