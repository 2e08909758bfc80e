"""The provider `joined`: machines of users that connect to the gateway with `hawse join`."""
