"""What a failure of the database says."""

from __future__ import annotations

import clickhouse_connect
import pytest

from ragvigil.app.demo.child_daemon import free_port
from ragvigil.store.engine.errors import Unavailable, read_failure, write_failure


def test_a_server_that_is_away_is_named_without_the_settings_of_the_query() -> None:
    with pytest.raises(Exception, match="refused") as raised:  # the driver's own kind
        clickhouse_connect.get_client(host="127.0.0.1", port=free_port(0), query_retries=0)
    for failure in (read_failure(raised.value), write_failure(raised.value)):
        assert isinstance(failure, Unavailable)
        assert "Connection refused" in str(failure)
        assert "with url" not in str(failure)
        assert len(str(failure)) < 200
