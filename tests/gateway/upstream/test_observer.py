"""The observer of the links that is used when there is no other."""

from gateway.upstream.gateway_call import GatewayCall
from gateway.upstream.observer import Unobserved
from hawse.api.gateway import PreviewHost
from hawse.wire import HawseError


async def test_calls_need_no_observer() -> None:
    observer, call = Unobserved(), GatewayCall(PreviewHost())
    observer.began(call, None)
    observer.ended(call, "ok")
    observer.refused(call, None, HawseError("forbidden"))
