"""Sign-in with an OpenID provider, whose JSON Web Tokens can serve as bearer tokens. Imported only for `--oidc-issuer`.

`provider` fetches metadata and keys, `tokens` verifies tokens, `users` maps claims to users and their permissions, and
`login` contains the routes. `service` ties these modules together.
"""
