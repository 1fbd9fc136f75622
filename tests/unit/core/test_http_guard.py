import pytest
from yarl import URL

from core.errors import RefusedError
from core.http_guard import check_foreign_url, is_public_address


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "192.168.0.9", "172.16.4.4", "169.254.169.254", "0.0.0.1",
        "100.64.0.1", "224.0.0.1", "::1", "::", "fe80::1%eth0", "fd00::1", "::ffff:127.0.0.1",
        "2002:7f00:1::", "64:ff9b::a00:1", "ff02::1", "not an address",
    ],
)  # fmt: skip
def test_addresses_of_our_own_network_are_not_public(address: str) -> None:
    assert not is_public_address(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://files.example.com/x", "http://files.example.com:8080/x", "https://10.0.0.1/x",
        "https://user:pw@files.example.com/x", "gopher://x", "/only/a/path",
    ],
)  # fmt: skip
def test_odd_addresses_are_refused(url: str) -> None:
    with pytest.raises(RefusedError, match="is not fetched"):
        check_foreign_url(URL(url))


def test_ordinary_addresses_pass() -> None:
    check_foreign_url(URL("https://files.example.com/a?signature=x"))
