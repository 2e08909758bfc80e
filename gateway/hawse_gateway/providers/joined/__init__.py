"""The `joined` provider: users' machines that connect to the gateway with `hawse join`."""
