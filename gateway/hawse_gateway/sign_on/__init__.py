"""User sign-in with an OpenID provider or through an authenticating proxy."""
