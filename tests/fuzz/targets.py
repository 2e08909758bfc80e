"""All fuzzers except the screen fuzzer (tests/fuzz/screens.py), whose cases run in separate processes."""

from tests.fuzz import archives, http_api, osc, previews, recordings, wire

TARGETS = {
    target.name: target
    for target in (wire.TARGET, osc.TARGET, recordings.TARGET, archives.TARGET, previews.TARGET, http_api.TARGET)
}
