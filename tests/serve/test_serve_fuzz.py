"""Requests made up from the interface's own description."""

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


@pytest.mark.long
def test_made_up_requests_get_answers_as_described(port):
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{port}/openapi.json")
    for operation in schema.get_all_operations():
        made = operation.ok()
        modes = [made.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]

        @given(case=st.one_of(modes))
        @settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        def check(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS)

        check()
