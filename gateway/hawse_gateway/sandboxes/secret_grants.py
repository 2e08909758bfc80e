"""Decides which secrets a sandbox can use. The decision is repeated at each start and while the sandbox is running.

For each secret, the row contains the reason why it was allowed when it was requested. The secret is granted as long as
this reason remains valid.
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

# A secret is granted for a reason: usually a user id in the secret's table, but this value for users with full
# permissions.
OPERATOR: Final = ""


class SecretGrants:
    """Decides which secrets each sandbox gets.

    Args:
        settings: The operator's settings for filtered networks.
        templates: The templates, which can contain secrets.
    """

    def __init__(self, settings: EgressSettings, templates: Templates) -> None:
        self._settings = settings
        self._templates = templates

    def check(self, policy: EgressPolicy, caller: Principal, template: str | None) -> dict[str, str]:
        """Return the reasons why a policy's secrets are allowed, keyed by name. The template's secrets are left out.

        Args:
            policy: The policy.
            caller: The principal that requests the policy.
            template: The template whose rules the policy uses. None if the policy has its own rules.

        Raises:
            HawseError: `invalid_params` if a rule is invalid or the caller isn't allowed to use a secret.
        """
        granted = self._templates.secrets(template)
        user = None if ALL in caller.rights else caller.id
        check_policy(policy, self._settings, granted, user)
        reason = OPERATOR if user is None else user
        return {name: reason for name in policy.secrets if name not in granted}

    def effective(self, record: SandboxRecord) -> EgressPolicy:
        """Return the policy for the sandbox's proxy, without revoked secrets."""
        policy = record.spec.egress or EgressPolicy()
        allowed = [name for name in policy.secrets if self._allowed(record, policy, name)]
        return policy if allowed == policy.secrets else msgspec.structs.replace(policy, secrets=allowed)

    def spec(self, record: SandboxRecord) -> SandboxSpec:
        """Return the specification to pass to the provider."""
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
        return is_listed(secret, record.owner)  # rows written by an earlier version contain no reasons
