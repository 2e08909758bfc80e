"""Calls a gateway with the client that openapi-python-client generated. Arguments: its URL and token."""

import io
import sys

from hawse_api import AuthenticatedClient
from hawse_api.api.exec_ import exec_
from hawse_api.api.file import file_list, file_stat
from hawse_api.api.files import files_get, files_put
from hawse_api.models import Exec, FileList, FileStat
from hawse_api.types import File

with AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2]) as client:
    put = files_put.sync_detailed("local", "hello.txt", client=client, body=File(io.BytesIO(b"hello")))
    assert put.status_code == 200, put
    assert files_get.sync("local", "hello.txt", client=client).payload.read() == b"hello"
    ran = exec_.sync("local", client=client, body=Exec(command="cat hello.txt; exit 3"))
    assert (ran.code, ran.stdout) == (3, "hello"), ran
    assert file_stat.sync("local", client=client, body=FileStat(path="hello.txt")).size == 5
    listed = file_list.sync("local", client=client, body=FileList(path="."))
    assert "hello.txt" in str(listed), listed
    missing = file_stat.sync("local", client=client, body=FileStat(path="missing"))
    assert missing.code == "not_found", missing
with AuthenticatedClient(base_url=sys.argv[1], token="x" * 32) as stranger:
    refused = exec_.sync_detailed("local", client=stranger, body=Exec(command=":"))
    assert (refused.status_code, refused.parsed.code) == (401, "unauthenticated"), refused
print("done")
