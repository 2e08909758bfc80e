"""A client for a cluster's API that handles one instance's objects and translates errors."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

import httpx2
from lightkube import ApiError, AsyncClient
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ConfigError
from lightkube.core.resource import NamespacedResourceG
from lightkube.models.meta_v1 import DeleteOptions, Preconditions
from lightkube.resources.core_v1 import Event, PersistentVolumeClaim, Pod, Secret
from lightkube.resources.networking_v1 import NetworkPolicy

from hawse.wire import HawseError
from hawse_gateway.providers.base import ProviderError
from hawse_gateway.providers.kubernetes.informer import ExpiredError
from hawse_gateway.providers.kubernetes.manifests import Manifest, labels
from hawse_gateway.providers.kubernetes.settings import KubernetesSettings

REQUEST_TIMEOUT: Final = 20.0  # seconds to wait for a response
WATCH_TIMEOUT: Final = 240  # seconds before the cluster ends a watch, which is then reopened
PAGE: Final = 500  # maximum number of objects per response
RETRY_AFTER: Final = 10.0  # seconds to wait before retrying if a quota is exhausted
FIELD_MANAGER: Final = "hawse"
BAD_REQUEST, FORBIDDEN, NOT_FOUND, CONFLICT, GONE, INVALID = 400, 403, 404, 409, 410, 422

R = TypeVar("R", bound=NamespacedResourceG)
KINDS: Final[Mapping[str, Any]] = {
    "Pod": Pod,
    "Secret": Secret,
    "PersistentVolumeClaim": PersistentVolumeClaim,
    "NetworkPolicy": NetworkPolicy,
}


class AlreadyExistsError(Exception):
    """An object with this kind and name already exists."""


class ExactClient(AsyncClient):
    """A client that checks an object's identity, not just its name, before deleting it."""

    async def delete_exactly(self, found: Any) -> None:
        """Start deleting an object. Raises `ApiError` (409) if its name now belongs to a different object."""
        request = self._client.prepare_request("delete", type(found), name=name_of(found))
        request.data = DeleteOptions(preconditions=Preconditions(uid=found.metadata.uid))
        answer = await self._client.send(self._client.build_adapter_request(request))  # type: ignore[no-untyped-call]
        self._client.handle_response("delete", answer, request)


class Cluster:
    """A namespace in a cluster. Methods raise `HawseError`.

    The error code is `capacity_exceeded` if a quota is exhausted, otherwise `unavailable`.
    """

    def __init__(self, settings: KubernetesSettings) -> None:
        """Load the kubeconfig (KUBECONFIG or ~/.kube/config) or the pod's service account, without contacting the
        cluster.

        Raises:
            ProviderError: Neither exists, or the one found is invalid.
        """
        try:
            config = KubeConfig.from_env().get(settings.context)
            self._client = ExactClient(
                config=config,
                namespace=settings.namespace,
                timeout=httpx2.Timeout(REQUEST_TIMEOUT),
            )
        except (ConfigError, OSError, ValueError, KeyError) as error:
            raise ProviderError(f"--provider kubernetes: no usable kubeconfig: {error}") from error
        self.labels = labels(settings.instance)

    async def create(self, manifest: Manifest) -> Any:
        """Create an object and return it. Raises `AlreadyExistsError`."""
        with _errors():
            try:
                return await self._client.create(_object(manifest))
            except ApiError as error:
                if error.status.code == CONFLICT and error.status.reason == "AlreadyExists":
                    raise AlreadyExistsError from error
                raise

    async def replace(self, manifest: Manifest) -> Any:
        """Create an object, or update the existing object that has the same kind and name."""
        with _errors():
            return await self._client.apply(_object(manifest), field_manager=FIELD_MANAGER, force=True)

    async def get(self, kind: type[R], name: str) -> R | None:
        """Return an object, or None if it does not exist."""
        with _errors():
            try:
                found: R = await self._client.get(kind, name)
            except ApiError as error:
                if error.status.code == NOT_FOUND:
                    return None
                raise
            return found

    async def delete(self, found: Any) -> None:
        """Start deleting an object, unless it is already gone. If a newer object has the same name, it is kept."""
        with _errors():
            try:
                await self._client.delete_exactly(found)
            except ApiError as error:
                if error.status.code not in (NOT_FOUND, CONFLICT):
                    raise

    async def delete_named(self, kind: type[NamespacedResourceG], name: str) -> None:
        """Start deleting an object by name. Has no effect if it is already gone, or if the role is from an older
        version and forbids it."""
        with _errors():
            try:
                await self._client.delete(kind, name)
            except ApiError as error:
                if error.status.code not in (NOT_FOUND, FORBIDDEN):
                    raise

    async def warning(self, about: Any) -> str | None:
        """Return the cluster's latest warning about an object, for example that its volume can't be mounted.

        Returns None if there is no warning, or if warnings can't be read, for example because the role is from an older
        version.
        """
        fields: Any = {"involvedObject.uid": about.metadata.uid, "type": "Warning"}
        try:
            with _errors():
                found = [each async for each in self._client.list(Event, fields=fields, chunk_size=PAGE)]
        except HawseError:
            return None
        newest = max(found, key=_last_seen, default=None)
        return None if newest is None else newest.message or newest.reason

    def objects(self, kind: type[R]) -> "Objects[R]":
        """Return an object source for the instance's objects of one kind."""
        return Objects(self._client, kind, self.labels)

    async def close(self) -> None:
        await self._client.close()


class Objects(Generic[R]):
    """An `ObjectSource` for objects of one kind with certain labels."""

    def __init__(self, client: AsyncClient, kind: type[R], selector: Mapping[str, str]) -> None:
        self.kind = f"kubernetes: objects of kind {kind.__name__}"
        self._client = client
        self._resource = kind
        self._selector: Any = dict(selector)

    def name(self, each: R) -> str:
        return name_of(each)

    async def list(self) -> tuple[list[R], str]:
        with _errors():
            listed = self._client.list(self._resource, labels=self._selector, chunk_size=PAGE)
            objects = [each async for each in listed]
            return objects, listed.resourceVersion

    async def watch(self, version: str) -> AsyncIterator[tuple[str, R]]:
        with _errors():
            try:
                async for change in self._client.watch(
                    self._resource, labels=self._selector, resource_version=version, server_timeout=WATCH_TIMEOUT
                ):
                    yield change
            except ApiError as error:
                if error.status.code == GONE:
                    raise ExpiredError from error
                raise


def name_of(each: Any) -> str:
    """Return an object's name in the cluster."""
    return str(each.metadata.name)


def _last_seen(event: Event) -> float:
    """Return when an event was last seen. If it was seen only once, the first of these fields can be missing."""
    time = event.lastTimestamp or event.eventTime or event.firstTimestamp
    return 0.0 if time is None else time.timestamp()


def _object(manifest: Manifest) -> Any:
    return KINDS[manifest["kind"]].from_dict(manifest)


@contextmanager
def _errors() -> Iterator[None]:
    """Convert the cluster's errors to `HawseError`."""
    try:
        yield
    except ApiError as error:
        message = str(error.status.message)
        if error.status.code == FORBIDDEN and "exceeded quota" in message:
            details = {"retry_after": RETRY_AFTER}
            raise HawseError("capacity_exceeded", f"the cluster: {message}", details=details) from error
        again = error.status.code not in (
            BAD_REQUEST,
            FORBIDDEN,
            INVALID,
        )  # the cluster would also refuse a retry
        raise HawseError("unavailable", f"the cluster refused a request: {message}", retryable=again) from error
    except (httpx2.HTTPError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise HawseError("unavailable", f"the cluster cannot be reached: {reason}") from error
    except ConfigError as error:  # a token could not be loaded from a file or a command
        raise HawseError("unavailable", f"the cluster cannot be reached: {error}") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:  # the response may come from a proxy
        message = f"unexpected response from the cluster: {type(error).__name__}: {error}"
        raise HawseError("unavailable", message) from error
