"""Canonical JSON against the examples of RFC 8785 and of the ECMAScript rules it refers to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.canonical import canonical_json
from api.errors import Invalid


def test_the_example_of_section_3_2_2() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\u002f",
        "literals": [None, True, False],
    }
    assert canonical_json(value) == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_names_are_sorted_by_utf_16() -> None:
    # Section 3.2.3: the emoji's surrogates come before the Hebrew presentation form.
    value = dict.fromkeys(["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"], 0)
    assert canonical_json(value) == '{"\\r":0,"1":0,"\u0080":0,"\u00f6":0,"\u20ac":0,"\U0001f600":0,"\ufb33":0}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (5e-324, "5e-324"), (-5e-324, "-5e-324"), (1e23, "1e+23"), (1e21, "1e+21"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (9007199254740992.0, "9007199254740992"),
        (295147905179352830000.0, "295147905179352830000"), (9.999999999999997e22, "9.999999999999997e+22"),
        (999999999999999900000.0, "999999999999999900000"), (9.999999999999997e-7, "9.999999999999997e-7"),
        (0.000001, "0.000001"), (333333333.3333332, "333333333.3333332"), (1.0, "1"), (100.0, "100"), (-1.5, "-1.5"),
        (10, "10"), (2**53 - 1, "9007199254740991"),
    ],
)  # fmt: skip
def test_numbers(value: Any, text: str) -> None:
    assert canonical_json(value) == text


@pytest.mark.parametrize("value", [2**53, -(2**53), {"a": [2**64]}])
def test_whole_numbers_that_doubles_cannot_hold_are_refused(value: Any) -> None:
    with pytest.raises(Invalid):
        canonical_json(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_reads_back_as_itself(value: float) -> None:
    assert float(canonical_json(value)) == value
