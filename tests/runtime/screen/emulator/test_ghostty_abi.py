from hawse_runtime.screen.emulator import ghostty_abi


def test_it_declares_the_functions_and_types_that_painting_needs() -> None:
    assert ghostty_abi.ffi.sizeof("GhosttyPointS") == ghostty_abi.ffi.sizeof("GhosttyPoint")
    assert len(ghostty_abi.DIGEST) == 64
