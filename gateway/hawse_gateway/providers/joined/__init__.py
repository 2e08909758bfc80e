"""The provider `joined`: users' machines that connect to the gateway with `hawse join`."""
