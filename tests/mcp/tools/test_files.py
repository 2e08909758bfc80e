import pytest

from hawse.client import Sandbox
from tests.support.mcp_agent import OpenAgent

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_long_file_is_read_in_parts(agent: OpenAgent, box: Sandbox) -> None:
    await box.files.write_text("long.txt", "".join(f"line {n}\n" for n in range(1, 1001)))
    async with agent(limit=1024) as call:
        first = await call("file_read", path="long.txt")
        assert first.startswith("line 1\nline 2\n")
        assert first.endswith("line 125\n[lines 1 to 125 of 1000; continue with line=126]")
        assert (await call("file_read", path="long.txt", line=118, lines=2)).startswith(
            "line 118\nline 119\n[lines 118 to 119"
        )
        await box.files.write_text("short-lines.txt", "\n" * 200_000)
        assert "[lines 150000 to 150001 of 200000" in await call(
            "file_read", path="short-lines.txt", line=150_000, lines=2
        )
        await box.files.write_text("wide.txt", "w" * 5000)
        assert "are omitted here" in await call("file_read", path="wide.txt")


async def test_an_image_is_shown_and_other_binary_files_are_not(agent: OpenAgent, box: Sandbox) -> None:
    await box.files.write("dot.png", b"\x89PNG\r\n")
    await box.files.write("program", b"\x7fELF\0\0")
    async with agent() as call:
        shown = await call.result("file_read", path="dot.png")
        assert (shown.content[1].type, shown.content[1].mime_type) == ("image", "image/png")
        assert "is not text" in await call.fails("file_read", path="program")


async def test_an_edit_is_exact_or_changes_nothing(agent: OpenAgent, box: Sandbox) -> None:
    await box.files.write_text("e.txt", "a b a")
    async with agent() as call:
        assert "2 times: include more" in await call.fails("file_edit", path="e.txt", old="a", new="x")
        assert "not in the file" in await call.fails("file_edit", path="e.txt", old="c", new="x")
        assert await box.files.read("e.txt") == b"a b a"
        assert await call("file_edit", path="e.txt", old="a", new="x", all=True) == "replaced 2 times"
        assert await box.files.read("e.txt") == b"x b x"
        assert "not_found" in await call.fails("file_edit", path="missing", old="a", new="b")


async def test_a_patch_applies_exactly_or_changes_nothing(agent: OpenAgent, box: Sandbox) -> None:
    await box.files.write_text("p.txt", "one\ntwo\n")
    async with agent() as call:
        assert await call("file_patch", path="p.txt", patch="@@ -2 +2 @@\n-two\n+2\n") == "applied 1 hunk"
        assert "are not in the file" in await call.fails("file_patch", path="p.txt", patch="@@ -2 +2 @@\n-two\n+3\n")
        assert "it has no hunk" in await call.fails("file_patch", path="p.txt", patch="two")
        assert await box.files.read("p.txt") == b"one\n2\n"


async def test_an_archive_is_unpacked(agent: OpenAgent, box: Sandbox) -> None:
    await box.exec("mkdir -p pack/d && echo x > pack/d/f && tar czf pack.tgz pack", check=True)
    async with agent() as call:
        assert await call("file_extract", path="pack.tgz", to="out", strip=1) == "2 entries, 2 bytes"
        assert "conflict" in await call.fails("file_extract", path="pack.tgz", to="out", strip=1)
    assert await box.files.read("out/d/f") == b"x\n"


async def test_long_lists_say_how_to_go_on(agent: OpenAgent, box: Sandbox) -> None:
    await box.exec("mkdir -p many && cd many && seq 1 1100 | xargs touch && yes match | head -300 > m.txt")
    async with agent() as call:
        assert "more than 1000 entries" in await call("file_list", path="many")
        assert await call("file_list", path="many", include=["m.*"]) == "m.txt  1,800"
        assert "more than 10 matches" in await call("file_search", pattern="match", path="many", limit=10)
        assert await call("file_search", pattern="nothing", path="many") == "[no match]"
        assert await call("file_search", text="match.", path="many") == "[no match]"
        assert "either `text` or `pattern`" in await call.fails("file_search", path="many")


async def test_hidden_files_are_searched_only_if_asked_for(agent: OpenAgent, box: Sandbox) -> None:
    await box.exec("mkdir -p found/.git; echo needle | tee found/a > found/.git/b")
    async with agent() as call:
        assert await call("file_search", pattern="needle", path="found") == "a:1:needle"
        assert ".git/b:1:needle" in await call("file_search", pattern="needle", path="found", hidden=True)
