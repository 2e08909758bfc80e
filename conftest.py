"""Settings for all tests: tests/ and e2e/."""

from hypothesis import HealthCheck, settings

pytest_plugins = ("tests.support.isolation",)

# A loaded machine draws examples slowly; that is not a defect of a test.
settings.register_profile("hawse", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hawse")
