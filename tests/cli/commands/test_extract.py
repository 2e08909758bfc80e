import json

import pytest

from hawse.cli import main
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack


def test_an_archive_is_unpacked_and_what_exists_is_not_replaced_unasked(
    gateway: Stack, capfd: pytest.CaptureFixture[str]
) -> None:
    async def pack(client: Client, box: Sandbox) -> None:
        await box.exec("mkdir -p packed && echo x > packed/f && tar czf packed.tgz packed", check=True)

    Target(url=gateway.base, token=gateway.token).run(pack)
    assert main(["extract", "packed.tgz", "unpacked", "--strip", "1"]) == 0
    assert capfd.readouterr().out == "1 entries, 2 B\n"
    assert main(["extract", "packed.tgz", "unpacked", "--strip", "1"]) == 1
    assert "conflict: packed/f exists" in capfd.readouterr().err
    assert main(["extract", "packed.tgz", "unpacked", "--strip", "1", "--overwrite", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"entries": 1, "bytes": 2, "skipped": 0}
    assert main(["extract", "packed.tgz", "--max-bytes", "1", "--overwrite"]) == 1
    assert "too_large" in capfd.readouterr().err
