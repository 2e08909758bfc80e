import stat
from pathlib import Path

import pytest

from hawse.client import config
from hawse.client.config import ConfigError, Gateway, find_gateway


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HAWSE_STATE", str(tmp_path / "state"))
    return tmp_path


def test_a_saved_gateway_is_found_and_its_file_is_private() -> None:
    path = config.save(Gateway("http://example.org", "secret"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = find_gateway(None, None)
    assert (found.url, found.token) == ("http://example.org", "secret")


def test_saving_again_replaces_what_was_saved() -> None:
    config.save(Gateway("http://a", "1"))
    config.save(Gateway("http://b", "2"))
    assert find_gateway(None, None).url == "http://b"


def test_an_option_overrides_the_saved_address_and_token() -> None:
    config.save(Gateway("http://saved", "saved"))
    found = find_gateway("http://given", "given")
    assert (found.url, found.token) == ("http://given", "given")


def test_saved_certificates_are_trusted_for_the_saved_address_only() -> None:
    config.save(Gateway("https://saved", "1", ca="/ca.pem"))
    assert find_gateway(None, None).ca == "/ca.pem"
    assert find_gateway("https://saved", None).ca == "/ca.pem"
    assert find_gateway("https://other", None).ca is None
    assert find_gateway(None, None, "/other.pem").ca == "/other.pem"


def test_the_saved_token_is_not_sent_to_another_address() -> None:
    config.save(Gateway("http://saved", "saved"))
    assert find_gateway("http://given", None).token is None


def test_the_saved_token_is_used_for_the_saved_address_given_as_an_option() -> None:
    config.save(Gateway("http://saved", "saved"))
    assert find_gateway("http://saved", None).token == "saved"
    assert find_gateway("http://saved/", None).token == "saved"


def test_without_settings_the_gateway_of_this_machine_is_used_with_its_token(home: Path) -> None:
    (home / "state").mkdir()
    (home / "state" / "token").write_text("local\n")
    found = find_gateway(None, None)
    assert (found.url, found.token) == (config.LOCAL_URL, "local")
    for url in (config.LOCAL_URL, f"{config.LOCAL_URL}/", "http://localhost:8080"):
        assert find_gateway(url, None).token == "local"
        assert find_gateway(url, "given").token == "given"
    for other in ("http://127.0.0.1:8081", "https://127.0.0.1:8080", f"{config.LOCAL_URL}/#token=its"):
        assert find_gateway(other, None).token is None, "the token of this machine is for its usual gateway only"
    config.save(Gateway(config.LOCAL_URL, "saved"))
    assert find_gateway(config.LOCAL_URL, None).token == "saved"


def test_without_a_state_directory_there_is_no_token() -> None:
    assert find_gateway(None, None).token is None


def test_forget_removes_what_was_saved() -> None:
    config.save(Gateway("http://saved", "saved"))
    assert config.forget()
    assert not config.forget()
    assert config.load() is None


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '"x"'])
def test_a_damaged_file_is_reported(text: str) -> None:
    path = config.save(Gateway("http://saved", "saved"))
    path.write_text(text)
    with pytest.raises(ConfigError, match="hawse login"):
        find_gateway(None, None)


def test_a_directory_that_cannot_be_written_is_reported(home: Path) -> None:
    (home / "config").write_text("a file, not a directory")
    with pytest.raises(ConfigError, match=r"config\.json"):
        config.save(Gateway("http://saved", "saved"))


def test_the_token_is_not_part_of_the_representation() -> None:
    assert "secret" not in repr(Gateway("http://a", "secret"))
