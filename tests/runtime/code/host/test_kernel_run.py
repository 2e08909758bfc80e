"""The order of questions and output."""

from hawse_runtime.code.host.kernel_run import QUESTIONS, KernelRun


def test_a_question_waits_for_its_mark() -> None:
    run = KernelRun(1)
    run.questions.extend([{"prompt": "a"}, {"prompt": "b"}])
    assert run.next_question(marked=True) is None
    run.marks += 1
    assert run.next_question(marked=True) == {"prompt": "a"}
    assert run.next_question(marked=True) is None


def test_a_mark_may_come_before_its_question() -> None:
    run = KernelRun(1)
    run.marks += 1
    assert run.next_question(marked=True) is None
    run.questions.append({"prompt": "a"})
    assert run.next_question(marked=True) == {"prompt": "a"}
    assert run.marks == 0


def test_questions_of_a_kernel_without_marks_are_passed_on_at_once() -> None:
    run = KernelRun(1)
    run.questions.append({"prompt": "a"})
    assert run.next_question(marked=False) == {"prompt": "a"}
    assert run.next_question(marked=False) is None


def test_questions_that_wait_are_bounded() -> None:
    run = KernelRun(1)
    run.questions.extend({"prompt": str(n)} for n in range(2 * QUESTIONS))
    assert len(run.questions) == QUESTIONS
