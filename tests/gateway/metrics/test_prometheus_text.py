"""The library's parser reads our output."""

import math

from hypothesis import given, strategies as st
from prometheus_client.parser import text_string_to_metric_families

from hawse_gateway.metrics.prometheus_text import Exposition, Family, Histogram


def read(out: Exposition) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(out.text())
        for sample in family.samples
    }


def test_a_family_has_its_help_and_type_once_before_its_samples() -> None:
    out = Exposition()
    out.add(Family("a_total", "counter", "How often."), [({"of": "x"}, 1), ({"of": "y"}, 2.5)])
    out.add(Family("b", "gauge", "What is."), [({}, 3)])
    assert out.text() == (
        '# HELP a_total How often.\n# TYPE a_total counter\na_total{of="x"} 1\na_total{of="y"} 2.5\n'
        "# HELP b What is.\n# TYPE b gauge\nb 3\n"
    )


def test_a_family_without_samples_is_omitted() -> None:
    out = Exposition()
    out.add(Family("a", "gauge", "A."), [])
    assert out.text() == ""


def test_a_histogram_counts_the_values_below_each_bound() -> None:
    out = Exposition()
    out.add(Family("h", "histogram", "H."), [({"s": "1"}, Histogram((0.1, 1.0), (2, 0, 3), 9.5))])
    label = ("s", "1")
    assert read(out) == {
        ("h_bucket", frozenset([label, ("le", "0.1")])): 2,
        ("h_bucket", frozenset([label, ("le", "1.0")])): 2,
        ("h_bucket", frozenset([label, ("le", "+Inf")])): 5,
        ("h_sum", frozenset([label])): 9.5,
        ("h_count", frozenset([label])): 5,
    }


@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False) | st.integers(0, 1 << 63))
def test_any_label_and_number_can_be_parsed_back(label: str, value: float) -> None:
    out = Exposition()
    out.add(Family("a", "gauge", "Back\\slash\nand line."), [({"of": label}, value)])
    ((_, labels), number) = next(iter(read(out).items()))
    assert dict(labels) == {"of": label}
    assert number == value or math.isclose(number, value)
