"""Zero and several observers."""

from hawse.api.ports import PreviewHost
from hawse.wire import HawseError, Result
from hawse_gateway.upstream.gateway_call import GatewayCall
from hawse_gateway.upstream.observer import ObservedCall, Observers, Unobserved


async def test_calls_need_no_observer() -> None:
    observer, call = Unobserved(), GatewayCall(PreviewHost())
    observer.began(call, None)
    observer.ended(call, "ok")
    observer.refused(call, None, HawseError("forbidden"))


async def test_several_observers_are_notified_in_order() -> None:
    seen: list[str] = []

    class Noting(Unobserved):
        def __init__(self, name: str) -> None:
            self._name = name

        def began(self, call: ObservedCall, sandbox: str | None) -> None:
            seen.append(f"{self._name} began")

        def ended(self, call: ObservedCall, outcome: str, result: Result | None = None) -> None:
            seen.append(f"{self._name} {outcome}")

        def refused(self, call: ObservedCall, sandbox: str | None, error: HawseError) -> None:
            seen.append(f"{self._name} {error.code}")

    observers, call = Observers([Noting("a"), Noting("b")]), GatewayCall(PreviewHost())
    observers.began(call, None)
    observers.ended(call, "ok")
    observers.refused(call, None, HawseError("forbidden"))
    assert seen == ["a began", "b began", "a ok", "b ok", "a forbidden", "b forbidden"]
