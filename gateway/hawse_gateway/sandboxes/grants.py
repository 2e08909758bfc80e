"""Which secrets a sandbox may use now. It is decided again at each start, and while it runs: a user may lose one.

A row notes why each secret was allowed when it was named. What has become of that reason decides.
"""

from typing import Final

import msgspec

from hawse.api.egress import EgressPolicy
from hawse.api.rights import ALL
from hawse.wire import Principal
from hawse_gateway.egress.settings import EgressSettings, check_policy, is_listed
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.templates import Templates

OPERATOR: Final = ""  # the reason of a user with every right; otherwise it is the id of the user that the table lists


class Grants:
    """The reasons for which sandboxes get secrets.

    Args:
        settings: The operator's settings of filtered networks.
        templates: The templates, which may name secrets.
    """

    def __init__(self, settings: EgressSettings, templates: Templates) -> None:
        self._settings = settings
        self._templates = templates

    def check(self, policy: EgressPolicy, caller: Principal, template: str | None) -> dict[str, str]:
        """Return why the secrets of a policy are allowed, for its row: by name, without those of the template.

        Args:
            policy: The policy.
            caller: Who wants it.
            template: The template whose rules it has. None: it has rules of its own.

        Raises:
            HawseError: `invalid_params` for a rule that is not valid, or a secret that the caller may not use.
        """
        granted = self._templates.secrets(template)
        user = None if ALL in caller.rights else caller.id
        check_policy(policy, self._settings, granted, user)
        reason = OPERATOR if user is None else user
        return {name: reason for name in policy.secrets if name not in granted}

    def effective(self, record: SandboxRecord) -> EgressPolicy:
        """Return what the proxy of a sandbox has to let through now: its policy, without secrets that were revoked."""
        policy = record.spec.egress or EgressPolicy()
        allowed = [name for name in policy.secrets if self._allowed(record, policy, name)]
        return policy if allowed == policy.secrets else msgspec.structs.replace(policy, secrets=allowed)

    def spec(self, record: SandboxRecord) -> SandboxSpec:
        """Return what the provider has to start."""
        if record.spec.egress is None:
            return record.spec
        return msgspec.structs.replace(record.spec, egress=self.effective(record))

    def _allowed(self, record: SandboxRecord, policy: EgressPolicy, name: str) -> bool:
        secret = self._settings.secrets.get(name)
        if secret is None:
            return False
        if (reason := record.grants.get(name)) is not None:
            return reason == OPERATOR or is_listed(secret, reason)
        template = None if record.template is None else self._templates.by_name.get(record.template)
        if template is not None and template.egress == policy and name in policy.secrets:
            return True
        return is_listed(secret, record.owner)  # of a row without reasons, as earlier versions wrote
