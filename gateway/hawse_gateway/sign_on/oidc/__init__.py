"""Sign-in with an OpenID provider, whose JSON Web Tokens can be bearer tokens. Imported only for `--oidc-issuer`.

`provider` fetches metadata and keys, `tokens` verifies tokens, `users` maps claims to users and rights, and `login` has
the routes. `service` combines these modules.
"""
