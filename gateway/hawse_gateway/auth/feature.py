"""The access control feature: provides credentials, the table of open connections, `token.*` and `share.*`."""

import time

from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.methods import AccessMethods
from hawse_gateway.auth.open_connections import OpenConnections
from hawse_gateway.auth.settings import AccessSettings
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.limits.failed_attempts import FailedAttempts
from hawse_gateway.limits.quotas import HeldLimit
from hawse_gateway.providers.state_directory import StateDirectory
from hawse_gateway.sandboxes.overview.index import SandboxIndex
from hawse_gateway.store.base import Store
from hawse_gateway.transport.settings import ServerSettings


def _build(gateway: Composition) -> None:
    server, access = gateway.part(ServerSettings), gateway.part(AccessSettings)
    credentials = gateway.ensure(
        Credentials,
        lambda: Credentials(server.token or gateway.part(StateDirectory).token(), gateway.part(Store)),
    )
    hosts = [server.host, *access.hosts]
    tickets = gateway.add(Tickets(time.monotonic))
    failed_attempts = gateway.part(FailedAttempts)
    gateway.add(
        AccessPolicy(credentials, tickets, hosts=hosts, origins=access.origins, failed_attempts=failed_attempts)
    )
    connections = gateway.add(OpenConnections(expiry=credentials.expiry, connections=gateway.part(HeldLimit)))
    credentials.subscribe(connections.end)


def _build_methods(gateway: Composition) -> None:
    credentials = gateway.part(Credentials)
    methods = gateway.add(AccessMethods(credentials, gateway.part(OpenConnections), gateway.part(SandboxIndex).owns))
    gateway.methods.append(methods)
    gateway.running.append(credentials.running())


CREDENTIALS = Feature("credentials", _build)
ACCESS = Feature("access", _build_methods)
