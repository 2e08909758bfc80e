"""Objects of classes whose modules may be compiled can be referenced weakly."""

import weakref

from hawse.weakref_support import supports_weakref
from hawse_runtime.journal.journal import Journal


def test_a_class_is_unchanged() -> None:
    class Example: ...

    assert supports_weakref(Example) is Example


def test_a_weak_reference_ends_with_its_object() -> None:
    journal = Journal()
    reference = weakref.ref(journal)
    assert reference() is journal
    del journal
    assert reference() is None
