"""Sign-in with an OpenID provider, and its JSON Web Tokens as bearer tokens. Loaded only with `--oidc-issuer`.

`provider` fetches documents, `tokens` verifies, `users` maps claims to users and rights, `login` has the routes.
`service` connects them.
"""
