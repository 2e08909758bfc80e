import base64
import json
from typing import Any

import pytest
from joserfc import jwk, jwt

from hawse_gateway.sign_on.oidc.provider import OidcProvider
from hawse_gateway.sign_on.oidc.tokens import LEEWAY, TOKEN_SIZE, InvalidTokenError, UnknownKeyError, Verifier

ISSUER = "https://id.example"
NOW = 1_000_000
KEY = jwk.generate_key("EC", "P-256", {"kid": "one"})
PUBLIC = KEY.as_dict(private=False)
OTHER = jwk.generate_key("EC", "P-256", {"kid": "one"})
RSA = jwk.generate_key("RSA", 2048, {"kid": "rsa", "alg": "RS256"})
SAME_RSA = jwk.import_key({name: value for name, value in RSA.as_dict(private=True).items() if name != "alg"})
CLAIMS = {"iss": ISSUER, "aud": "me", "sub": "ada", "exp": NOW + 100, "iat": NOW}


def verifier(*keys: Any) -> Verifier:
    provider = OidcProvider(ISSUER)
    provider.keys = {key.kid: key for key in keys or (KEY, RSA)}
    return Verifier(provider, clock=lambda: NOW)


def token(key: Any = KEY, header: dict[str, Any] | None = None, **claims: Any) -> str:
    header = {"alg": "ES256", "kid": "one"} if header is None else header
    given = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    return jwt.encode(header, given, key, algorithms=[header["alg"]])


def test_a_valid_token_gives_its_claims() -> None:
    assert verifier().verify(token(groups=["a"]), "me")["groups"] == ["a"]
    assert verifier().verify(token(aud=["other", "me"]), "me")["sub"] == "ada"
    assert verifier().verify(token(RSA, {"alg": "RS256", "kid": "rsa"}), "me")["sub"] == "ada"
    assert verifier(KEY).verify(token(header={"alg": "ES256"}), "me")["sub"] == "ada"


def test_clocks_may_differ_by_a_minute() -> None:
    for claims in ({"exp": NOW - LEEWAY + 1}, {"nbf": NOW + LEEWAY}, {"iat": NOW + LEEWAY}):
        verifier().verify(token(KEY, None, **claims), "me")
    for claims in ({"exp": NOW - LEEWAY - 1}, {"nbf": NOW + LEEWAY + 1}, {"iat": NOW + LEEWAY + 1}):
        with pytest.raises(InvalidTokenError):
            verifier().verify(token(KEY, None, **claims), "me")


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://id.example/"},
        {"iss": None},
        {"aud": "other"},
        {"aud": ["other"]},
        {"aud": None},
        {"sub": None},
        {"sub": 5},
        {"exp": None},
        {"exp": "never"},
        {"aud": {"me": 1}},
    ],
)
def test_a_token_of_or_for_others_or_without_an_end_is_refused(claims: dict[str, Any]) -> None:
    with pytest.raises(InvalidTokenError):
        verifier().verify(token(KEY, None, **claims), "me")


def _unsigned(header: dict[str, Any], signature: str = "") -> str:
    parts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, CLAIMS))
    return ".".join((*parts, signature))


def test_signatures_of_others_and_weak_algorithms_are_refused() -> None:
    secret = jwk.import_key(json.dumps(PUBLIC), "oct", {"kid": "one"})
    forged = [
        token(OTHER),
        _unsigned({"alg": "none"}),
        _unsigned({"alg": "none", "kid": "one"}),
        _unsigned({"alg": "ES256", "kid": "one"}),
        _unsigned({"alg": "ES256", "kid": "one", "jwk": OTHER.as_dict(private=False)}, token(OTHER).split(".")[2]),
        _unsigned({"alg": "ES256", "kid": "one", "crit": ["b64"], "b64": False}, "AA"),
        token(secret, {"alg": "HS256", "kid": "one"}),
        token(SAME_RSA, {"alg": "PS256", "kid": "rsa"}),  # the key is for RS256
        token(RSA, {"alg": "RS256", "kid": "one"}),
        token()[:-4] + "AAAA",
    ]
    for one in forged:
        with pytest.raises(InvalidTokenError):
            verifier().verify(one, "me")


@pytest.mark.parametrize(
    "text", ["", "..", "a.b.c", "ü.ü.ü", "\ud800.a.b", "[].e30.AA", "." * 9, "x" * (TOKEN_SIZE + 1)]
)
def test_text_that_is_not_a_token_is_refused(text: str) -> None:
    with pytest.raises(InvalidTokenError):
        verifier().verify(text, "me")


def test_an_unknown_key_is_reported_as_such() -> None:
    for header in ({"alg": "ES256", "kid": "two"}, {"alg": "ES256"}):
        with pytest.raises(UnknownKeyError):
            verifier().verify(token(header=header), "me")


def test_the_token_of_a_login_is_for_that_login_and_this_client() -> None:
    check = verifier().verify_login
    assert check(token(nonce="n"), "me", "n")["sub"] == "ada"
    assert check(token(nonce="n", aud=["me", "b"], azp="me"), "me", "n")["sub"] == "ada"
    for claims in (
        {},
        {"nonce": "m"},
        {"nonce": 5},
        {"nonce": "n", "azp": "other"},
        {"nonce": "n", "aud": ["me", "b"]},
    ):
        with pytest.raises(InvalidTokenError):
            check(token(KEY, None, **claims), "me", "n")
