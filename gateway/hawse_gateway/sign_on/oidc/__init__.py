"""Sign-in with an OpenID provider, and its JSON Web Tokens as bearer tokens. Loaded only with `--oidc-issuer`.

`provider` fetches documents, `tokens` verifies, `users` decides who the user is and what it may do, `login` has the
routes. `service` connects them.
"""
