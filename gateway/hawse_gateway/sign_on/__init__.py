"""Sign-in of people: by an OpenID provider, or by a proxy that has authenticated them."""
