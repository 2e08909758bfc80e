"""The validation of git's arguments. test_methods.py checks that invalid ones never reach git."""

import subprocess

import pytest
from hypothesis import given, strategies as st

from hawse.api.git import GitCredentials
from hawse.wire import HawseError
from hawse_runtime.git.arguments import branch, directory_of, paths, redacted, remote, revision, scope, source


@pytest.mark.parametrize(
    "url",
    [
        "https://host/x.git",
        "http://[::1]:80/x",
        "ssh://git@host:22/x",
        "git://host/x",
        "file:///x",
        "git@host:x/y.git",
        "host:x",
        "/srv/x.git",
    ],
)
def test_a_valid_url_is_not_changed(url: str) -> None:
    assert source(url, None) == (url, None)


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c x",
        "fd::17",
        "ftp://h/x",
        "HTTP+evil://h/x",
        "-u",
        "--upload-pack=x",
        "https://-h/x",
        "https://",
        "https:///x",
        "https://h x/y",
        "https://h/x\n",
        "https://a@b@-c/x",
        "ssh://-oProxyCommand=x/y",
        "-oProxyCommand=x:y",
        "a@-oProxyCommand=x:y",
        "relative/path",
        "../x",
        "https://h:port/x",
        "",
    ],
)
def test_a_url_that_could_be_an_option_or_run_a_program_is_refused(url: str) -> None:
    with pytest.raises(HawseError, match="invalid_params"):
        source(url, None)


def test_credentials_are_removed_from_a_url() -> None:
    url, credentials = source("https://ann:p%40ss@host:8080/x?y=z", None)
    assert url == "https://host:8080/x?y=z"
    assert credentials == GitCredentials(username="ann", password="p@ss")
    assert source("https://token@host/x", None) == ("https://host/x", GitCredentials(username="token", password=""))
    own = GitCredentials(username="bob", password="x")
    assert source("https://ann:pass@host/x", own) == ("https://host/x", own)


def test_credentials_require_an_http_url_and_contain_no_control_characters() -> None:
    for url, password in (
        ("ssh://h/x", "x"),
        ("git@h:x", "x"),
        ("/x", "x"),
        ("https://h/x", "a\nb"),
        ("http://h/x", "\0"),
    ):
        with pytest.raises(HawseError, match="invalid_params"):
            source(url, GitCredentials(password=password))


def test_the_scope_of_credentials_is_scheme_host_and_port() -> None:
    assert scope("https://ann@host:1/x/y") == "https://host:1"
    for url in ("ssh://host/x", "git@host:x", "/x", "https://-x/y"):
        with pytest.raises(HawseError, match="invalid_params"):
            scope(url)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://h/a/b.git", "b"),
        ("https://h/a/b/", "b"),
        ("git@h:b.git", "b"),
        ("/srv/b/.git", "b"),
        ("https://h/b.git.git", "b.git"),
    ],
)
def test_the_default_name_of_a_clone_is_the_last_part_of_its_url(url: str, name: str) -> None:
    assert directory_of(url) == name


@pytest.mark.parametrize("url", ["https://h/..", "https://h/-x", "https://h/.git"])
def test_a_url_that_names_no_directory_is_refused(url: str) -> None:
    if url.endswith("/.git"):
        assert directory_of(url) == "h"
        return
    with pytest.raises(HawseError, match="invalid_params"):
        directory_of(url)


@pytest.mark.parametrize("name", ["main", "feature/x-1", "é", "a.b", "v1.0@x"])
def test_a_valid_branch_name_is_not_changed(name: str) -> None:
    assert branch(name, "$.branch") == name


@given(st.text(alphabet="ab/.-+@{~^: \\*[\x7f\n", min_size=1, max_size=8))
def test_each_accepted_branch_name_is_valid_for_git(name: str) -> None:
    try:
        branch(name, "$.branch")
    except HawseError:
        return
    assert not name.startswith(("-", "+"))
    checked = subprocess.run(["git", "check-ref-format", "--branch", name], capture_output=True, check=False)
    assert checked.returncode == 0, name


def test_an_option_is_not_a_valid_revision_or_remote() -> None:
    assert revision("HEAD~3", "$.ref") == "HEAD~3"
    assert remote("up/stream-1") == "up/stream-1"
    for text in ("-x", "--all", "a\nb", "a\0"):
        with pytest.raises(HawseError, match="invalid_params"):
            revision(text, "$.ref")
    for text in ("-x", "https://h/x", "git@h:x", "ext::x", "a b"):
        with pytest.raises(HawseError, match="invalid_params"):
            remote(text)


def test_paths_follow_two_dashes_byte_for_byte() -> None:
    assert paths(None) == ["--"]
    assert paths(["-x", "caf\0e9"]) == ["--", "-x", "caf\udce9"]
    with pytest.raises(HawseError, match="invalid_params"):
        paths(["a\0"])


def test_secrets_are_redacted_in_the_output_of_git() -> None:
    output = "fatal: unable to access 'https://ann:secret@host/x/': p@ss or p%40ss"
    assert redacted(output, GitCredentials(username="ann", password="p@ss")) == (
        "fatal: unable to access 'https://host/x/': *** or ***"
    )
    assert redacted("for 'https://token@host'", None) == "for 'https://host'"
    assert redacted("my-token", GitCredentials(username="my-token", password="")) == "***"
