from hawse_gateway.auth.hosts import is_address, split_host, split_origin


def test_a_host_is_split_with_the_port_of_its_scheme() -> None:
    assert split_host("Example.org", "https") == ("example.org", 443)
    assert split_host("[::1]:81", "http") == ("::1", 81)
    assert split_origin("https://example.org") == ("https", "example.org", 443)


def test_an_ip_address_is_distinguished_from_a_host_name() -> None:
    assert is_address("::1")
    assert not is_address("127.0.0.1.example")
