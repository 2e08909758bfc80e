"""Both clients in cells of a real notebook kernel, which runs each cell as a task of an event loop."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from tests.support.stack import Stack

TIMEOUT = 60.0  # s for one cell on a busy machine


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with asyncio.Runner() as runner:
        stack = Stack(tmp_path_factory.mktemp("s"))
        runner.run(stack.start())
        yield stack
        runner.run(stack.close())


class Notebook:
    """A kernel, and the output of its cells."""

    def __init__(self, manager: KernelManager) -> None:
        self.interrupt: Callable[[], object] = manager.interrupt_kernel
        self._client = manager.client()

    def __enter__(self) -> "Notebook":
        self._client.start_channels()
        self._client.wait_for_ready(TIMEOUT)
        return self

    def __exit__(self, *error: object) -> None:
        self._client.stop_channels()

    def run(self, cell: str, on_output: Callable[[], object] = lambda: None) -> str:
        """Run a cell; return its result, or the name of its exception. `on_output` is called when it prints."""
        shown: list[str] = []

        def show(message: dict[str, Any]) -> None:
            match message["msg_type"], message["content"]:
                case "stream", {"name": "stdout"}:
                    on_output()
                case "execute_result", {"data": data}:
                    shown.append(data["text/plain"])
                case "error", {"ename": name}:
                    shown.append(name)

        self._client.execute_interactive(cell, output_hook=show, timeout=TIMEOUT)
        return "".join(shown)


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    specs = KernelSpecManager(kernel_dirs=[])
    manager = KernelManager(kernel_spec_manager=specs, connection_file=str(tmp_path / "kernel.json"))
    manager.transport, manager.ip = "ipc", str(tmp_path / "k")
    manager.start_kernel()
    try:
        with Notebook(manager) as notebook:
            yield notebook
    finally:
        manager.shutdown_kernel(now=True)


# A command that reports its start and its end.
ENDLESS = "trap 'echo gone > ended; exit' TERM; echo begun; while :; do sleep 0.1; done"


def test_the_asynchronous_client_is_used_in_several_cells(stack: Stack, notebook: Notebook) -> None:
    assert notebook.run(f"import asyncio, hawse\nhw = await hawse.connect({stack.url!r})\nbox = hw.sandbox()") == ""
    assert notebook.run("(await box.exec('echo here')).text") == r"'here\n'"
    assert notebook.run("[r.code for r in await asyncio.gather(*(box.exec(f'exit {n}') for n in range(3)))]") == (
        "[0, 1, 2]"
    )
    notebook.run("terminal = await box.terminals.open(argv=['cat'])")
    assert notebook.run("await terminal.send('typed\\n')\n(await terminal.expect('typed')).text") == "'typed'"
    notebook.run("await box.exec(['mkfifo', 'ended'], check=True)")
    running = f'await box.exec("""{ENDLESS}""", on_stdout=lambda data: print(data, flush=True))'
    assert notebook.run(running, notebook.interrupt) == "CancelledError"
    assert notebook.run("(await box.exec(['cat', 'ended'])).text") == r"'gone\n'"
    assert notebook.run("await hw.close()\nhw.state.name") == "'CLOSED'"
    assert notebook.run("[task for task in asyncio.all_tasks() if 'hawse' in task.get_name()]") == "[]"


def test_the_synchronous_client_is_used_in_several_cells(stack: Stack, notebook: Notebook) -> None:
    assert notebook.run(f"import hawse.sync\nhw = hawse.sync.connect({stack.url!r})\nbox = hw.sandbox()") == ""
    assert notebook.run("box.exec('echo here').text") == r"'here\n'"
    notebook.run("box.exec(['rm', '-f', 'ended'])\nbox.exec(['mkfifo', 'ended'], check=True)")
    running = f'box.exec("""{ENDLESS}""", on_stdout=lambda data: print(data, flush=True))'
    assert notebook.run(running, notebook.interrupt) == "KeyboardInterrupt"
    assert notebook.run("box.exec(['cat', 'ended']).text") == r"'gone\n'"
    assert notebook.run("hw.close()\nhw.state.name") == "'CLOSED'"
