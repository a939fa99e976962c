"""What messages say about parameters."""

import pytest

from manyview.checks import InputError, a_type_of, check_int, check_real


@pytest.mark.parametrize(("value", "expected"), [(1, "an int"), ([], "a list"), ("", "a str"), (object(), "an object")])
def test_types_have_their_article(value, expected):
    assert a_type_of(value) == expected


@pytest.mark.parametrize(
    ("limits", "allowed"),
    [
        ({}, "a finite number."),
        ({"minimum": 0.5}, "a finite number of at least 0.5."),
        ({"maximum": 2}, "a finite number of at most 2."),
        ({"minimum": 0, "maximum": 1}, "a finite number from 0 to 1."),
    ],
)
def test_numbers_are_told_their_range(limits, allowed):
    for value, wrong in (("1", "is a str"), (float("nan"), "is out of range"), (True, "is a bool")):
        with pytest.raises(InputError) as caught:
            check_real("x", value, **limits)
        assert str(caught.value) == f"x={value!r} {wrong}; give {allowed}"
    assert check_real("x", 1, **limits) == 1.0


@pytest.mark.parametrize(("value", "wrong"), [(2, "is too small"), (3.0, "is a float"), (True, "is a bool")])
def test_whole_numbers_are_told_the_smallest(value, wrong):
    with pytest.raises(InputError, match=f"x={value!r} {wrong}; give a whole number of at least 3"):
        check_int("x", value, minimum=3)
    assert check_int("x", 3, minimum=3) == 3


def test_whole_numbers_may_have_a_largest():
    assert check_int("x", 9, minimum=3, maximum=9) == 9
    for value, wrong in ((10, "is too large"), (2, "is too small")):
        with pytest.raises(InputError, match=f"x={value} {wrong}; give a whole number from 3 to 9"):
            check_int("x", value, minimum=3, maximum=9)


def test_numbers_that_are_too_long_to_write_are_refused_in_words():
    for check, wrong in ((check_int, "is too large"), (check_real, "is out of range")):
        with pytest.raises(InputError, match=f"x=<an int that is too long to write> {wrong}"):
            check("x", 10**5000, minimum=0)
    with pytest.raises(InputError, match=r"x='aaaaaaaaaa.{0,40}\.\.\. is a str"):
        check_real("x", "a" * 9999)
