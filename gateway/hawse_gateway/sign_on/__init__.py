"""User sign-in through an OpenID provider or an authenticating proxy."""
