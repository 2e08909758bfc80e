"""Sign-in of people with an OpenID provider, or through an authenticating proxy."""
