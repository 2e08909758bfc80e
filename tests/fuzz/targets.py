"""All fuzzers but that of screens (tests/fuzz/screens.py), whose cases run in processes of their own."""

from tests.fuzz import archives, http_api, osc, previews, recordings, wire

TARGETS = {
    target.name: target
    for target in (wire.TARGET, osc.TARGET, recordings.TARGET, archives.TARGET, previews.TARGET, http_api.TARGET)
}
