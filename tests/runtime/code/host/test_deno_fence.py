"""The end of the output of Deno's kernel: by hand, and with Deno."""

import json

from hawse_runtime.code.host.deno_fence import TYPE, Fence
from hawse_runtime.code.host_protocol import BUNDLES, STDERR, STDOUT, RunDone, RunEvent
from tests.support.deno import path_with_deno
from tests.support.kernel_host import HostProcess


def test_a_fence_is_passed_when_both_of_its_marks_have_come() -> None:
    fence = Fence()
    mark = fence.source.split('"')[-2]
    printed = json.dumps({"name": "stdout", "text": f"late{mark}\n"}).encode()
    shown = json.dumps({"data": {TYPE: mark}}).encode()
    assert fence.without_mark("stream", b'{"text": "other"}') == b'{"text": "other"}'
    assert json.loads(fence.without_mark("stream", printed) or b"") == {"name": "stdout", "text": "late"}
    assert not fence.passed
    assert fence.without_mark("display_data", b'{"data": {}}') == b'{"data": {}}'
    assert fence.without_mark("execute_result", shown) == shown
    assert fence.without_mark("display_data", shown) is None
    assert fence.passed


async def test_no_output_and_no_value_of_deno_is_missing_and_none_is_in_the_next_run() -> None:
    count = 100
    async with HostProcess({"PATH": path_with_deno()}) as host:
        await host.start(language="typescript")
        for run in range(1, 11):
            code = f"for (let n = 0; n < {count}; n++) console.log({run}, n); console.error({run}); {run}"
            received = await host.run(code, run=run)
            assert {(each.run if isinstance(each, RunEvent | RunDone) else each[1]) for each in received} == {run}
            output = [each for each in received if isinstance(each, tuple) and each[0] != BUNDLES]
            printed = b"".join(data for kind, _, data in output if kind == STDOUT).decode()
            assert printed.splitlines() == [f"{run} {n}" for n in range(count)]
            assert b"".join(data for kind, _, data in output if kind == STDERR) == b"%d\n" % run
            values = [json.loads(bytes(each.value)) for each in received if isinstance(each, RunEvent)]
            assert [value["data"] for value in values] == [{"text/plain": str(run)}]
        failed = await host.run("console.log = () => {}; console.error('e'); throw new TypeError('no')", run=11)
        assert failed[-1].error[:2] == ("TypeError", "no")
        assert (await host.run("Deno.jupyter.broadcast = null; 5", run=12))[-1].ok
        assert [type(each) for each in await host.run("6", run=13)] == [RunEvent, RunDone]
