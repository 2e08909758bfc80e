"""`process.attach` without a socket. Its handle is tested in test_process.py."""

from hawse.api.processes import ProcessAttach
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.process.attach import ProcessAttachCall
from tests.support.client import MemoryConnection


async def test_a_repeat_asks_for_the_same_instance_from_the_offsets_that_were_received() -> None:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    call = ProcessAttachCall(ProcessAttach(id="p"), sandbox="local", since={"stdout": 5}, window=100)
    calls.submit(call)
    assert connection.params == {"id": "p", "since": {"stdout": 5, "stderr": 0}, "input": call.input_stream.id}
    connection.event("opened", {"id": "p", "instance": "i", "pid": 7, "from": {"stdout": 5, "stderr": 0}})
    connection.data(1, 5, b"abc")
    calls.disconnected()
    again = MemoryConnection(calls)
    since = {"stdout": 8, "stderr": 0}
    assert again.params == {"id": "p", "instance": "i", "since": since, "input": call.input_stream.id}
