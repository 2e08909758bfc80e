"""The life of a channel: the table in the code is the table of docs/wire.md."""

import re
from itertools import product

import pytest

from hawse.wire.channel import CLIENT_STEPS, TRANSITIONS, Channel, ChannelState, Step
from tests.support import wire as kit

CLIENT_WORDS = {
    "call": Step.CALL,
    "input frames": Step.INPUT,
    "end": Step.END,
    "cancel": Step.CANCEL,
    "credit": Step.CLIENT_CREDIT,
}
SERVER_WORDS = {
    "event": Step.EVENT,
    "frames": Step.OUTPUT,
    "credit": Step.SERVER_CREDIT,
    "result/error": Step.LAST,
}


def steps(cell: str, words: dict[str, Step], state: ChannelState) -> dict[Step, ChannelState]:
    """Parse one cell of the table: `x` → *state*, or `x` alone for a step that keeps the state."""
    found = {}
    for item in filter(None, re.sub(r"[`*]", "", cell).split(", ")):
        word, _, then = item.partition(" → ")
        found[words[word]] = ChannelState(then) if then else state
    return found


def documented() -> dict[ChannelState, dict[Step, ChannelState]]:
    rows: dict[ChannelState, dict[Step, ChannelState]] = {}
    server = ""
    for name, client_cell, server_cell in kit.table("The life of a channel", "state"):
        state = ChannelState(name.strip("*"))
        if "ignored" in client_cell:
            assert server_cell == "nothing"
            rows[state] = dict.fromkeys(CLIENT_STEPS - {Step.CALL}, state)
            continue
        server = server if server_cell == "the same" else server_cell
        rows[state] = steps(client_cell, CLIENT_WORDS, state) | steps(server, SERVER_WORDS, state)
    return rows


def test_the_table_is_that_of_section_2() -> None:
    assert documented() == TRANSITIONS


@pytest.mark.parametrize(("state", "step"), list(product(ChannelState, Step)), ids=lambda value: value.value)
def test_a_step_is_taken_if_and_only_if_the_table_contains_it(state: ChannelState, step: Step) -> None:
    channel = Channel(1, send_window=0, receive_window=0)
    channel.state = state
    assert channel.step(step) is (step in TRANSITIONS[state])
    assert channel.state is TRANSITIONS[state].get(step, state)


def test_every_step_belongs_to_one_side() -> None:
    assert set(CLIENT_WORDS.values()) == CLIENT_STEPS
    assert set(SERVER_WORDS.values()) | CLIENT_STEPS == set(Step)


def test_no_step_leaves_the_closed_state_and_every_open_state_can_reach_it() -> None:
    assert set(TRANSITIONS[ChannelState.CLOSED].values()) == {ChannelState.CLOSED}
    for state in (ChannelState.OPEN, ChannelState.ENDED, ChannelState.CANCELLING):
        assert TRANSITIONS[state][Step.LAST] is ChannelState.CLOSED


def test_a_new_channel_is_idle_and_allows_only_a_call() -> None:
    channel = Channel(7, send_window=1, receive_window=2)
    assert (channel.state, channel.source) == (ChannelState.IDLE, None)
    assert not channel.step(Step.OUTPUT)


def test_frames_are_allowed_where_the_table_allows_them_and_do_not_change_the_state() -> None:
    for path in product(Step, repeat=3):
        channel = Channel(1, send_window=0, receive_window=0)
        for step in path:
            channel.step(step)
            allowed = TRANSITIONS[channel.state]
            assert (channel.input_open, channel.output_open) == (Step.INPUT in allowed, Step.OUTPUT in allowed)
            assert {allowed.get(frame, channel.state) for frame in (Step.INPUT, Step.OUTPUT)} == {channel.state}
