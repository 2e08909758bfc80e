"""How a terminal is started, and how a viewer attaches."""

from hawse_runtime.terminal.options import TerminalOptions, ViewerOptions


def test_a_terminal_is_as_large_as_the_first_terminals_were() -> None:
    options = TerminalOptions(argv=["sh"], cwd="/", env={})
    assert (options.cols, options.rows) == (80, 24)


def test_a_viewer_sends_no_input_and_loses_output_unless_it_asks_otherwise() -> None:
    options = ViewerOptions()
    assert options.input_id is None
    assert not options.lossless
