"""The methods `git.*` on real repositories, compared with the output of git."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.git_server import GitServer, commit, git, repository
from tests.support.principals import VIEWER
from tests.support.runtime import Client, Served, no_fd_leaked

AUTHOR = {"name": "Ann", "email": "ann@example.com"}


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the git configuration of the user who runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


@pytest.fixture
def repo(plain: None, served: Served) -> Path:
    return repository(served.workspace / "repo", {"a": "1\n", "dir/b": "2\n"})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    (tmp_path / "served").mkdir()
    with GitServer(tmp_path / "served", credentials=("ann", "secret")) as server:
        yield server


async def test_the_status_lists_changes_with_any_names(client: Client, repo: Path) -> None:
    (repo / "a").write_text("changed\n")
    git(repo, "mv", "dir/b", "dir/ with space\n")
    os.close(os.open(os.fsencode(repo) + b"/\xff", os.O_CREAT))
    (repo / "-n").touch()
    state = await client.ask("git.status", path="repo")
    assert (state["branch"], state["commit"]) == ("main", git(repo, "rev-parse", "HEAD").strip())
    entries = {entry.pop("path"): entry for entry in state["entries"]}
    assert entries == {
        "a": {"index": ".", "worktree": "M", "origin": None},
        "dir/ with space\n": {"index": "R", "worktree": ".", "origin": "dir/b"},
        "\0ff": {"index": "?", "worktree": "?", "origin": None},
        "-n": {"index": "?", "worktree": "?", "origin": None},
    }
    await client.ask("git.add", path="repo", paths=["\0ff", "-n"])
    state = await client.ask("git.status", path="repo/dir")
    assert {entry["path"]: entry["index"] for entry in state["entries"]}["\0ff"] == "A"


async def test_the_first_commit_of_an_empty_repository(client: Client, served: Served) -> None:
    with no_fd_leaked():
        (served.workspace / "new").mkdir()
        git(served.workspace / "new", "init", "-q", "-b", "trunk")
        state = await client.ask("git.status", path="new")
        assert (state["branch"], state["commit"], state["entries"]) == ("trunk", None, [])
        assert (await client.ask("git.log", path="new"))["commits"] == []
        (served.workspace / "new/x").write_text("x")
        await client.ask("git.add", path="new", all=True)
        message = "--amend is no option here\n\nBody: é"
        head = await client.ask("git.commit", path="new", message=message, author=AUTHOR)
        (listed,) = (await client.ask("git.log", path="new"))["commits"]
        assert (listed["commit"], listed["message"], listed["author"], listed["committer_email"]) == (
            head["commit"],
            message,
            "Ann",
            "ann@example.com",
        )
        assert head == {"path": str(served.workspace / "new"), "commit": head["commit"], "branch": "trunk"}
        refused = await client.refused("git.commit", path="new", message="again", author=AUTHOR)
        assert (refused.code, refused.details["reason"]) == ("conflict", "nothing_to_commit")
        (served.workspace / "new/x").write_text("y")
        await client.ask("git.commit", path="new", message="two", author=AUTHOR, all=True)
        assert len((await client.ask("git.log", path="new", limit=5))["commits"]) == 2
        assert len((await client.ask("git.log", path="new", limit=1, skip=1))["commits"]) == 1


async def test_differences_of_all_kinds(client: Client, repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD").strip()
    commit(repo, {"a": "2\n"})
    (repo / "a").write_text("3\n")
    (repo / "dir/b").write_text("4\n")
    git(repo, "add", "dir/b")

    async def diff(**params: Any) -> str:
        patch = await client.ask("git.diff", path="repo", **params)
        assert not patch["truncated"]
        return str(patch["text"])

    assert await diff() == git(repo, "diff")
    assert await diff(staged=True) == git(repo, "diff", "--cached")
    assert await diff(base=first) == git(repo, "diff", first)
    assert await diff(base=first, target="HEAD") == git(repo, "diff", first, "HEAD")
    assert await diff(base="HEAD~1..HEAD", paths=["a"]) == git(repo, "diff", "HEAD~1..HEAD", "--", "a")
    assert await diff(paths=["*"]) == ""
    (repo / "a").write_text("long\n" * 10_000)
    patch = await client.ask("git.diff", path="repo", limit=1000)
    assert (len(patch["text"]), patch["truncated"]) == (1000, True)
    (repo / "a").write_bytes(b"\x01" * 400_000 + b"\xff")
    assert (await client.ask("git.diff", path="repo", limit=512 << 10))["truncated"]


async def test_branches_are_created_checked_out_and_deleted(client: Client, repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD").strip()
    commit(repo, {"a": "2\n"})
    made = await client.ask("git.branch", path="repo", create="old", start="HEAD~1")
    assert [(b["name"], b["current"]) for b in made["branches"]] == [("main", True), ("old", False)]
    head = await client.ask("git.checkout", path="repo", ref="old")
    assert (head["branch"], head["commit"]) == ("old", first)
    head = await client.ask("git.checkout", path="repo", ref="topic", create=True, start="main")
    assert head["branch"] == "topic"
    head = await client.ask("git.checkout", path="repo", ref=first)
    assert (head["branch"], head["commit"]) == (None, first)
    await client.ask("git.checkout", path="repo", ref="main")
    left = await client.ask("git.branch", path="repo", delete="old")
    assert [b["name"] for b in left["branches"]] == ["main", "topic"]
    assert left["current"] == "main"
    (repo / "a").write_text("mine\n")
    refused = await client.refused("git.checkout", path="repo", ref=first)
    assert (refused.code, refused.details["reason"]) == ("conflict", "local_changes")
    await client.ask("git.checkout", path="repo", paths=["a"])
    assert (repo / "a").read_text() == "2\n"
    refused = await client.refused("git.branch", path="repo", delete="main")
    assert (refused.code, refused.details["reason"]) == ("conflict", "branch")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("git.checkout", {"ref": "--orphan"}),
        ("git.checkout", {"ref": "-f", "create": True}),
        ("git.checkout", {"ref": "x", "create": True, "start": "--detach"}),
        ("git.checkout", {}),
        ("git.diff", {"base": "--output=/tmp/pwned"}),
        ("git.diff", {"target": "HEAD"}),
        ("git.log", {"ref": "--output=/tmp/pwned"}),
        ("git.branch", {"create": "--delete"}),
        ("git.branch", {"delete": "-D"}),
        ("git.branch", {"create": "a..b"}),
        ("git.branch", {"create": "x", "start": "-x"}),
        ("git.pull", {"remote": "--upload-pack=touch /tmp/pwned"}),
        ("git.pull", {"remote": "ext::sh -c touch"}),
        ("git.pull", {"branch": "--force"}),
        ("git.push", {"remote": "--receive-pack=x"}),
        ("git.push", {"branch": "a:b"}),
        ("git.push", {"branch": "+main"}),
        ("git.add", {"paths": ["a\0"]}),
        ("git.add", {}),
        ("git.commit", {"message": "m", "author": {"name": "a>", "email": "b"}}),
        ("git.clone", {"url": "--upload-pack=touch /tmp/pwned"}),
        ("git.clone", {"url": "ext::sh -c touch% /tmp/pwned"}),
        ("git.clone", {"url": "ftp://host/x"}),
        ("git.clone", {"url": "ssh://-oProxyCommand=touch/x"}),
        ("git.clone", {"url": "http://host/x", "branch": "-x"}),
        ("git.clone", {"url": "http://host/x", "filter": "sparse:oid=x"}),
        ("git.clone", {"url": "git@host:x", "credentials": {"password": "x"}}),
        ("git.clone", {"url": "http://host/x", "credentials": {"username": "a\nhost=b", "password": "x"}}),
    ],
)
async def test_an_option_or_a_program_as_an_argument_never_reaches_git(
    client: Client, repo: Path, method: str, params: dict[str, Any]
) -> None:
    place = {} if method == "git.clone" else {"path": "repo"}
    assert (await client.refused(method, **place, **params)).code == "invalid_params"
    assert "pwned" not in os.listdir("/tmp")


async def test_a_directory_without_a_repository_is_not_found(client: Client, served: Served) -> None:
    (served.workspace / "plain").mkdir()
    for method in ("git.status", "git.log", "git.branch", "git.diff"):
        for path in ("plain", "nowhere"):
            error = await client.refused(method, path=path)
            assert (error.code, error.details["reason"]) == ("not_found", "not_a_repository"), (method, path)


async def test_without_git_the_error_is_spawn_failed(
    plain: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path / "workspace" / "repo", {"a": "1\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    async with Served(tmp_path) as served, served.client() as client:
        assert (await client.refused("git.status", path="repo")).code == "spawn_failed"
        stream = client.call("git.clone", {"url": "http://127.0.0.1:1/x"})
        assert (await stream.refusal()).code == "spawn_failed"
        assert sorted(path.name for path in served.workspace.iterdir()) == ["repo"]


async def test_pull_and_push_do_not_store_their_credentials(
    client: Client, served: Served, server: GitServer, tmp_path: Path
) -> None:
    work = server.create("project", {"a": "1\n"})
    (tmp_path / ".gitconfig").write_text(f"[credential]\n\thelper = store --file={tmp_path}/stored\n")
    access = {"username": "ann", "password": "secret"}
    with no_fd_leaked():
        await client.call("git.clone", {"url": server.url("project"), "credentials": access}).result()
        mine = served.workspace / "project"
        theirs = commit(work, {"b": "2\n"})
        git(work, "push", "-q", "origin", "main")
        error = await client.refused("git.pull", path="project")
        assert (error.code, error.details["reason"]) == ("permission_denied", "authentication")
        head = await client.ask("git.pull", path="project", credentials=access)
        assert (head["commit"], head["branch"]) == (theirs, "main")

        (mine / "c").write_text("3")
        await client.ask("git.add", path="project", all=True)
        ours = await client.ask("git.commit", path="project", message="ours", author=AUTHOR)
        assert (await client.ask("git.status", path="project"))["ahead"] == 1
        assert (await client.refused("git.push", path="project")).code == "permission_denied"
        done = await client.ask("git.push", path="project", credentials=access)
        assert [(ref["status"], ref["ref"]) for ref in done["refs"]] == [(" ", "refs/heads/main")]
        assert git(server.folder / "project.git", "rev-parse", "main").strip() == ours["commit"]
        await client.ask("git.checkout", path="project", ref="topic", create=True)
        done = await client.ask("git.push", path="project", branch="topic", set_upstream=True, credentials=access)
        assert done["refs"][0]["status"] == "*"
        assert (await client.ask("git.status", path="project"))["upstream"] == "origin/topic"
    assert not (tmp_path / "stored").exists()
    assert "secret" not in (mine / ".git/config").read_text()


async def test_changes_on_both_sides_are_a_conflict(client: Client, served: Served, server: GitServer) -> None:
    work = server.create("project", {"a": "1\n"})
    access = {"username": "ann", "password": "secret"}
    await client.call("git.clone", {"url": server.url("project"), "credentials": access}).result()
    commit(work, {"a": "theirs\n"})
    git(work, "push", "-q", "origin", "main")
    (served.workspace / "project/a").write_text("ours\n")
    await client.ask("git.commit", path="project", message="ours", author=AUTHOR, all=True)
    error = await client.refused("git.push", path="project", credentials=access)
    assert (error.code, error.details["reason"]) == ("conflict", "rejected")
    error = await client.refused("git.pull", path="project", ff_only=True, credentials=access)
    assert (error.code, error.details["reason"]) == ("conflict", "rejected")
    git(served.workspace / "project", "config", "user.name", "Ann")
    git(served.workspace / "project", "config", "user.email", "ann@example.com")
    error = await client.refused("git.pull", path="project", credentials=access)
    assert (error.code, error.details["reason"]) == ("conflict", "merge")
    state = await client.ask("git.status", path="project")
    assert [(entry["index"], entry["worktree"]) for entry in state["entries"]] == [("U", "U")]


async def test_credentials_are_sent_to_the_remote_only(client: Client, repo: Path) -> None:
    git(repo, "remote", "add", "origin", "/somewhere")
    error = await client.refused("git.pull", path="repo", credentials={"password": "x"})
    assert (error.code, error.details["path"]) == ("invalid_params", "$.credentials")
    error = await client.refused("git.push", path="repo", remote="other", credentials={"password": "x"})
    assert (error.code, error.details["reason"]) == ("not_found", "remote")


async def test_an_unknown_revision_and_an_unreachable_remote_are_typed_errors(client: Client, repo: Path) -> None:
    for method, params in (
        ("git.checkout", {"ref": "nothing"}),
        ("git.diff", {"base": "nothing"}),
        ("git.log", {"ref": "nothing"}),
        ("git.branch", {"delete": "nothing"}),
        ("git.add", {"paths": ["nothing"]}),
    ):
        error = await client.refused(method, path="repo", **params)
        assert (error.code, error.details["reason"]) == ("not_found", "revision"), method
    git(repo, "remote", "add", "unreachable", "http://127.0.0.1:1/x.git")
    error = await client.refused("git.pull", path="repo", remote="unreachable", branch="main")
    assert (error.code, error.details["reason"], error.retryable) == ("io_error", "network", True)


async def test_a_viewer_may_call_no_git_method(client: Client, repo: Path) -> None:
    for method in ("git.status", "git.log", "git.clone"):
        assert (await client.call(method, {"url": "http://x/y"}, principal=VIEWER).refusal()).code == "forbidden"


async def test_a_key_commits_once(client: Client, repo: Path) -> None:
    (repo / "a").write_text("x")
    params = {"path": "repo", "message": "once", "all": True, "author": AUTHOR}
    first = await client.ask("git.commit", params, key="k")
    assert await client.ask("git.commit", params, key="k") == first
    assert git(repo, "rev-list", "--count", "HEAD").strip() == "2"


HOSTILE = """
[color]
    ui = always
    diff = always
    status = always
    branch = always
    push = always
    remote = always
    transport = always
    advice = always
    decorate = always
    interactive = always
[column]
    ui = always
[core]
    quotePath = true
    abbrev = 4
    pager = false
    commentChar = "%"
[pager]
    diff = false
    log = false
    status = false
[diff]
    noprefix = true
    mnemonicPrefix = true
    srcPrefix = x/
    dstPrefix = y/
    relative = true
    external = false
    renames = false
    algorithm = patience
    context = 0
    interHunkContext = 9
    orderFile = /nowhere/order
    submodule = log
    ignoreSubmodules = all
    suppressBlankEmpty = true
    indentHeuristic = false
    colorMoved = zebra
    wsErrorHighlight = all
    wordRegex = .
    statGraphWidth = 1
[diff "hostile"]
    textconv = false
    command = false
    algorithm = histogram
[status]
    relativePaths = true
    short = true
    branch = false
    showStash = true
    renames = false
    aheadBehind = false
    showUntrackedFiles = no
    submoduleSummary = true
[log]
    showSignature = true
    decorate = full
    follow = true
    date = raw
    abbrevCommit = true
    showRoot = false
[format]
    pretty = oneline
[i18n]
    logOutputEncoding = latin1
    commitEncoding = latin1
[commit]
    cleanup = strip
    status = true
    verbose = 2
    template = /nowhere/template
[branch]
    sort = -committerdate
[tag]
    sort = -refname
[pull]
    rebase = interactive
    ff = only
[trace2]
    normalTarget = 2
    perfTarget = 2
    eventTarget = 2
[advice]
    pushUpdateRejected = false
    statusHints = false
    detachedHead = true
[alias]
    status = !false
    diff = !false
    log = !false
[sequence]
    editor = false
"""


async def test_settings_of_git_do_not_change_results(client: Client, repo: Path, tmp_path: Path) -> None:
    long = "".join(f"line {number}\n\n" for number in range(40))
    commit(repo, {".gitattributes": "*.txt diff=hostile\n", "é.txt": long, "dir/b": "2\n" * 30, "old": "old\n" * 20})
    git(repo, "mv", "old", "new")
    git(repo, "commit", "--quiet", "-m", "renamed")
    git(repo, "tag", "main")
    git(repo, "branch", "another", "HEAD~1")
    (repo / "dir/b").write_text("2\n" * 15 + "3\n" + "2\n" * 15)
    (repo / "é.txt").write_text(long.replace("line 20\n", "changed\n"))
    (repo / "untracked").touch()
    git(repo, "stash", "push", "--", "dir/b")
    git(repo, "stash", "apply")

    async def results() -> list[Any]:
        return [
            await client.ask("git.status", path="repo/dir"),
            await client.ask("git.diff", path="repo/dir"),
            await client.ask("git.diff", path="repo", base="HEAD~1", target="HEAD"),
            await client.ask("git.log", path="repo"),
            await client.ask("git.log", path="repo", paths=["new"]),
            await client.ask("git.branch", path="repo"),
        ]

    plain = await results()
    assert plain[0]["branch"] == "main"
    (tmp_path / ".gitconfig").write_text(HOSTILE)
    with (repo / ".git/config").open("a") as config:
        config.write(HOSTILE)
    assert await results() == plain
    (repo / ".git/config").write_text((repo / ".git/config").read_text().replace(HOSTILE, ""))
    (tmp_path / ".gitconfig").unlink()
    git(repo, "checkout", "--quiet", "--", ".")
    git(repo, "apply", input=plain[1]["text"].encode())
    assert "changed\n" in (repo / "é.txt").read_text()


async def test_settings_of_git_do_not_change_commits_and_pushes(
    client: Client, repo: Path, served: Served, tmp_path: Path
) -> None:
    git(served.workspace, "clone", "--quiet", "--bare", "repo", "remote.git")
    git(repo, "remote", "add", "origin", str(served.workspace / "remote.git"))
    (tmp_path / ".gitconfig").write_text(HOSTILE)
    message = "# a heading, which is no comment\n\né\n\n% neither is this"
    head = await client.ask("git.commit", path="repo", message=message, author=AUTHOR, allow_empty=True)
    pushed = await client.ask("git.push", path="repo", set_upstream=True)
    assert [(ref["status"], ref["ref"]) for ref in pushed["refs"]] == [(" ", "refs/heads/main")]
    (tmp_path / ".gitconfig").unlink()
    raw = git(repo, "cat-file", "commit", head["commit"])
    assert raw.partition("\n\n")[2].rstrip("\n") == message
    assert "\nencoding " not in raw
    (listed,) = (await client.ask("git.log", path="repo", limit=1))["commits"]
    assert listed["message"] == message
