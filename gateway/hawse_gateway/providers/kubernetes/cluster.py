"""A client for a cluster's API that handles one instance's objects and translates errors."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any, Final, Generic, Literal, TypeVar

import httpx2
import msgspec
from lightkube import ApiError, AsyncClient
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.decoders import decode_status
from lightkube.core.exceptions import ConfigError
from lightkube.core.generic_client import BasicRequest
from lightkube.core.resource import NamespacedResourceG
from lightkube.models.meta_v1 import DeleteOptions, Preconditions
from lightkube.resources.core_v1 import Event, PersistentVolumeClaim, Pod, Secret
from lightkube.resources.networking_v1 import NetworkPolicy

from hawse.wire import HawseError
from hawse_gateway.providers.base import ProviderError
from hawse_gateway.providers.kubernetes.informer import Change, ExpiredError
from hawse_gateway.providers.kubernetes.manifests import Manifest, labels
from hawse_gateway.providers.kubernetes.objects import Kind, ObjectSummary, read_object
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings

log = logging.getLogger(__name__)

REQUEST_TIMEOUT: Final = 20.0  # seconds to wait for a response
WATCH_TIMEOUT: Final = 240  # seconds before the cluster ends a watch, which is then reopened
QUIET: Final = 120.0  # seconds without data before a watch is reopened; clusters send a bookmark every minute
PAGE: Final = 100  # maximum number of objects per response, because decoding it blocks the event loop
LINE: Final = 8 << 20  # maximum size of a reported change in bytes; etcd limits an object to 1.5 MiB
RETRY_AFTER: Final = 10.0  # seconds that a client should wait before it retries if a quota is exhausted
FIELD_MANAGER: Final = "hawse"
BAD_REQUEST, FORBIDDEN, NOT_FOUND, CONFLICT, GONE, INVALID = 400, 403, 404, 409, 410, 422

O = TypeVar("O", bound=ObjectSummary)  # noqa: E741
RESOURCES: Final[Mapping[str, Any]] = {
    "Pod": Pod,
    "Secret": Secret,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "NetworkPolicy": NetworkPolicy,
}


class AlreadyExistsError(Exception):
    """An object with this kind and name already exists."""


class _Event(msgspec.Struct):
    """A line in the response to a watch."""

    type: str
    object: msgspec.Raw


class _Version(msgspec.Struct, rename="camel"):
    resource_version: str
    continue_: str | None = msgspec.field(name="continue", default=None)


class _Bookmark(msgspec.Struct):
    metadata: _Version


class _List(msgspec.Struct):
    metadata: _Version
    items: list[msgspec.Raw]


class RawClient(AsyncClient):
    """A client that returns JSON instead of objects, because decoding whole objects is slow and takes a lot of
    memory."""

    async def delete_exactly(self, kind: type[NamespacedResourceG], name: str, uid: str) -> None:
        """Start deleting an object. Raises `ApiError` (409) if its name now belongs to a different object."""
        request = self._client.prepare_request("delete", kind, name=name)
        request.data = DeleteOptions(preconditions=Preconditions(uid=uid))
        await self._read(request)

    async def read(
        self, method: Literal["get", "list", "post"], kind: type[NamespacedResourceG], **arguments: Any
    ) -> bytes:
        """Send a request, and return the response."""
        return await self._read(self._client.prepare_request(method, kind, **arguments))

    async def _read(self, request: BasicRequest) -> bytes:
        response = await self._client.send(self._client.build_adapter_request(request))  # type: ignore[no-untyped-call]
        self._client.raise_for_status(response)  # type: ignore[no-untyped-call]
        return bytes(response.content)

    async def lines(self, kind: type[NamespacedResourceG], params: dict[str, str]) -> AsyncGenerator[bytes, None]:
        """Open a watch. Yield an empty line once the watch is open, and then the lines of the response.

        Raises:
            ApiError: The cluster refused the watch.
            ValueError: A line is longer than `LINE`.
        """
        request = self._client.prepare_request("list", kind, watch=True, params=params)
        request.timeout = httpx2.Timeout(REQUEST_TIMEOUT, read=QUIET)
        response = await self._client.send(self._client.build_adapter_request(request), stream=True)  # type: ignore[no-untyped-call]
        try:
            if response.is_error:
                await response.aread()
            self._client.raise_for_status(response)  # type: ignore[no-untyped-call]
            yield b""
            buffer = bytearray()
            async for data in response.aiter_bytes():
                *whole, rest = data.split(b"\n")
                for line in whole:
                    yield bytes(buffer) + line
                    buffer.clear()
                buffer += rest
                if len(buffer) > LINE:
                    raise ValueError(f"a change is longer than {LINE} bytes")
            if buffer:
                yield bytes(buffer)
        finally:
            await response.aclose()


class Cluster:
    """A namespace in a cluster. Methods raise `HawseError`.

    The error code is `capacity_exceeded` if a quota is exhausted, otherwise `unavailable`.
    """

    def __init__(self, settings: KubernetesSettings) -> None:
        """Load the kubeconfig (KUBECONFIG or ~/.kube/config) or the pod's service account, without contacting the
        cluster.

        Raises:
            ProviderError: There is neither a kubeconfig nor a service account, or the one found is invalid.
        """
        try:
            config = KubeConfig.from_env().get(settings.context)
            self._client = RawClient(
                config=config,
                namespace=settings.namespace,
                timeout=httpx2.Timeout(REQUEST_TIMEOUT),
            )
        except (ConfigError, OSError, ValueError, KeyError) as error:
            raise ProviderError(f"--provider kubernetes: no usable kubeconfig: {error}") from error
        self.labels = labels(settings.instance)

    async def create(self, manifest: Manifest) -> ObjectSummary:
        """Create an object and return it. Raises `AlreadyExistsError`."""
        made = _object(manifest)
        with _errors():
            try:
                return read_object(await self._client.read("post", type(made), obj=made))
            except ApiError as error:
                if error.status.code == CONFLICT and error.status.reason == "AlreadyExists":
                    raise AlreadyExistsError from error
                raise

    async def replace(self, manifest: Manifest) -> None:
        """Create an object, or update the existing object that has the same kind and name."""
        with _errors():
            await self._client.apply(_object(manifest), field_manager=FIELD_MANAGER, force=True)

    async def get(self, kind: Kind[O], name: str) -> O | None:
        """Return an object, or None if it does not exist."""
        with _errors():
            try:
                _, found = kind.read(await self._client.read("get", kind.resource, name=name))
            except ApiError as error:
                if error.status.code == NOT_FOUND:
                    return None
                raise
            return found

    async def delete(self, kind: Kind[Any], found: ObjectSummary) -> None:
        """Start deleting an object, unless it is already gone. A newer object with the same name is kept."""
        with _errors():
            try:
                await self._client.delete_exactly(kind.resource, found.name, found.uid)
            except ApiError as error:
                if error.status.code not in (NOT_FOUND, CONFLICT):
                    raise

    async def delete_named(self, kind: type[NamespacedResourceG], name: str) -> None:
        """Start deleting an object by name. Has no effect if the object is already gone, or if the gateway's role is
        from an older version that doesn't allow deleting it."""
        with _errors():
            try:
                await self._client.delete(kind, name)
            except ApiError as error:
                if error.status.code not in (NOT_FOUND, FORBIDDEN):
                    raise

    async def warning(self, about: ObjectSummary) -> str | None:
        """Return the cluster's latest warning about an object, for example that its volume can't be mounted.

        Returns None if there is no warning, or if warnings can't be read, for example because the gateway's role is
        from an older version.
        """
        fields: Any = {"involvedObject.uid": about.uid, "type": "Warning"}
        try:
            with _errors():
                found = [each async for each in self._client.list(Event, fields=fields, chunk_size=PAGE)]
        except HawseError:
            return None
        newest = max(found, key=_last_seen, default=None)
        return None if newest is None else newest.message or newest.reason

    def objects(self, kind: Kind[O]) -> "Objects[O]":
        """Return an object source for the instance's objects of one kind."""
        return Objects(self._client, kind, self.labels)

    async def close(self) -> None:
        await self._client.close()


class Objects(Generic[O]):
    """An `ObjectSource` for objects of one kind with certain labels."""

    def __init__(self, client: RawClient, kind: Kind[O], selector: Mapping[str, str]) -> None:
        self.kind = f"kubernetes: objects of kind {kind.resource.__name__}"
        self._client = client
        self._kind = kind
        self._selector = ",".join(f"{name}={value}" for name, value in selector.items())

    async def pages(self) -> AsyncIterator[tuple[str, list[O]]]:
        after: str | None = ""
        while after is not None:
            params = {"labelSelector": self._selector, "limit": str(PAGE), "continue": after or None}
            with _errors():
                listed = _LIST.decode(await self._client.read("list", self._kind.resource, params=params))
            yield listed.metadata.resource_version, [each for raw in listed.items if (each := self._read(raw)[1])]
            after = listed.metadata.continue_ or None

    async def watch(self, version: str) -> AsyncIterator[Change[O]]:
        params = {
            "labelSelector": self._selector,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_TIMEOUT),
        }
        with _errors():
            async with aclosing(self._client.lines(self._kind.resource, params)) as lines:
                async for line in lines:
                    yield self._change(version, line)

    def _change(self, version: str, line: bytes) -> Change[O]:
        if not line:
            return Change("BOOKMARK", version)
        event = _EVENT.decode(line)
        if event.type == "ERROR":
            raise ApiError(status=decode_status(event.object))
        if event.type == "BOOKMARK":
            return Change("BOOKMARK", _BOOKMARK.decode(event.object).metadata.resource_version)
        return Change(event.type, *self._read(event.object))

    def _read(self, raw: msgspec.Raw) -> tuple[str | None, O | None]:
        """Return an object's version and summary. Both are None if the object can't be read."""
        try:
            return self._kind.read(raw)
        except msgspec.ValidationError as error:
            log.warning("! %s: ignoring an object: %s", self.kind, error)
            return None, None


_EVENT: Final = msgspec.json.Decoder(_Event)
_BOOKMARK: Final = msgspec.json.Decoder(_Bookmark)
_LIST: Final = msgspec.json.Decoder(_List)


def _last_seen(event: Event) -> float:
    """Return when an event was last seen. An event that was seen only once may have no `lastTimestamp`."""
    time = event.lastTimestamp or event.eventTime or event.firstTimestamp
    return 0.0 if time is None else time.timestamp()


def _object(manifest: Manifest) -> Any:
    return RESOURCES[manifest["kind"]].from_dict(manifest)


@contextmanager
def _errors() -> Iterator[None]:
    """Convert the cluster's errors to `HawseError`."""
    try:
        yield
    except ApiError as error:
        if error.status.code == GONE:
            raise ExpiredError from error
        message = str(error.status.message)
        if error.status.code == FORBIDDEN and "exceeded quota" in message:
            details = {"retry_after": RETRY_AFTER}
            raise HawseError("capacity_exceeded", f"the cluster: {message}", details=details) from error
        again = error.status.code not in (
            BAD_REQUEST,
            FORBIDDEN,
            INVALID,
        )  # after one of these codes, a retry would fail as well
        raise HawseError("unavailable", f"the cluster refused a request: {message}", retryable=again) from error
    except (httpx2.HTTPError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise HawseError("unavailable", f"the cluster cannot be reached: {reason}") from error
    except ConfigError as error:  # a token could not be loaded from a file or a command
        raise HawseError("unavailable", f"the cluster cannot be reached: {error}") from error
    except (msgspec.MsgspecError, ValueError, LookupError, TypeError, AttributeError) as error:
        # The response may come from a proxy instead of the cluster.
        message = f"unexpected response from the cluster: {type(error).__name__}: {error}"
        raise HawseError("unavailable", message) from error
