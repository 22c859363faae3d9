import socket

import pytest

from ncgnn.errors import InputError
from ncgnn.serve import address, allowed_hosts, listen


def test_a_taken_port_is_said_in_one_line():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on host 127.0.0.1, port {port} .*choose another port"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 70])
def test_a_host_that_is_not_there_is_said_in_one_line(host):
    with pytest.raises(InputError, match=r"cannot listen on host .*another host"):
        listen(host, 0)


def test_a_listener_takes_connections_at_the_address_it_names():
    with listen("127.0.0.1", 0) as listener:
        scheme, _, place = address(listener).partition("://")
        host, _, port = place.rstrip("/").partition(":")
        assert scheme == "http"
        socket.create_connection((host, int(port)), timeout=5).close()


def test_a_server_answers_to_its_own_names():
    with listen("127.0.0.1", 0) as listener:
        assert allowed_hosts("127.0.0.1", listener) == ("127.0.0.1", "localhost", "[::1]")
        assert allowed_hosts("graphs.example", listener)[0] == "graphs.example"
        assert allowed_hosts("fe80::1", listener)[0] == "[fe80::1]"


def test_only_a_server_on_all_addresses_answers_to_any_name():
    with listen("0.0.0.0", 0) as listener:
        assert allowed_hosts("0.0.0.0", listener) == ("*",)
    with pytest.raises(InputError, match=r"host \*: not an address"):
        listen("*", 0)
