import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manyview import InputError, Views, check_views

X = np.arange(12.0).reshape(4, 3)
Y = np.arange(8.0).reshape(4, 2)
FRAME = pd.DataFrame(X, index=list("abcd"), columns=["p", "q", "r"])
SPARSE_FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


def dense(array):
    return array.toarray() if sp.issparse(array) else array


# What may come in --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ([X, Y], ("view_0", "view_1")),
        ((X, Y), ("view_0", "view_1")),
        ({"rna": X, "atac": Y}, ("rna", "atac")),
        ({1: X, 2: Y}, ("1", "2")),
        ([FRAME, Y], ("view_0", "view_1")),
        ([sp.csr_array(X), Y], ("view_0", "view_1")),
        (Views([X, Y], names=["s", "t"]), ("s", "t")),
        ([X.tolist(), Y.tolist()], ("view_0", "view_1")),
    ],
)
def test_collections_of_tables_become_views(data, names):
    views = check_views(data)
    assert views.names == names
    assert (views.n_views, views.n_samples, len(views), views.shape) == (2, 4, 4, (4, 5))
    for (name, array), expected in zip(views.items(), (X, Y), strict=True):
        assert name in names
        np.testing.assert_array_equal(dense(array), expected)


@pytest.mark.parametrize("table", [X, FRAME, sp.csr_array(X), X.tolist()], ids=lambda t: type(t).__name__)
def test_a_bare_table_is_one_view(table):
    views = Views(table)
    assert views.names == ("view_0",)
    np.testing.assert_array_equal(dense(views.arrays[0]), X)


@pytest.mark.parametrize("form", SPARSE_FORMATS)
@pytest.mark.parametrize("base", [sp.csr_array, sp.csr_matrix])
def test_every_sparse_format_becomes_a_csr_array(form, base):
    array = Views([base(X).asformat(form)]).arrays[0]
    assert isinstance(array, sp.csr_array)
    np.testing.assert_array_equal(array.toarray(), X)


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("float32", "float32"),
        (">f4", "float32"),
        ("float64", "float64"),
        (">f8", "float64"),
        ("float16", "float32"),
        ("longdouble", "float64"),
        ("bool", "float64"),
        ("int8", "float64"),
        ("uint64", "float64"),
        ("int64", "float64"),
        ("object", "float64"),
    ],
)
def test_dtypes(dtype, result):
    table = (X > 3).astype(dtype)
    assert Views([table]).arrays[0].dtype == np.dtype(result)
    np.testing.assert_array_equal(Views([table]).arrays[0], X > 3)
    if dtype not in ("object", "float16", "longdouble", ">f4", ">f8"):
        assert Views([sp.csr_array(table)]).arrays[0].dtype == np.dtype(result)


@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("Int64", "float64"),
        ("UInt8", "float64"),
        ("boolean", "float64"),
        ("Float32", "float32"),
        ("Float64", "float64"),
        ("float32", "float32"),
        (pd.SparseDtype(float, 0.0), "float64"),
        (pd.SparseDtype(int, 0), "float64"),
    ],
    ids=str,
)
def test_pandas_dtypes(dtype, result):
    frame = pd.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1]}).astype(dtype)
    array = check_views(frame).arrays[0]
    assert array.dtype == np.dtype(result)
    np.testing.assert_array_equal(array, [[1, 0], [0, 0], [1, 1]])


def test_frames_of_mixed_dtypes():
    frame = pd.DataFrame({"a": pd.array([1, 2], "Int64"), "b": [True, False], "c": np.float32([0.5, 1.5])})
    np.testing.assert_array_equal(Views(frame).arrays[0], [[1, 1, 0.5], [2, 0, 1.5]])


@pytest.mark.parametrize("array", [X, X.astype(np.float32), sp.csr_array(X)], ids=["f64", "f32", "csr"])
def test_float_tables_are_not_copied(array):
    kept = Views([array]).arrays[0]
    assert np.shares_memory(*(a.data if sp.issparse(a) else a for a in (kept, array)))


def unsorted_with_duplicates():
    return sp.csr_array((np.array([1.0, 2, 3, 4]), np.array([2, 0, 0, 1]), np.array([0, 3, 4])), shape=(2, 3))


def test_unsorted_and_repeated_sparse_entries_are_merged_in_a_copy():
    table = unsorted_with_duplicates()
    array = Views([table]).arrays[0]
    assert array.has_canonical_format
    np.testing.assert_array_equal(array.toarray(), [[5, 0, 1], [0, 4, 0]])
    np.testing.assert_array_equal(table.indices, [2, 0, 0, 1])
    np.testing.assert_array_equal(table.data, [1, 2, 3, 4])


# What is refused ---------------------------------------------------------------------------------

REFUSED = {
    "no views": ([], "Got no views; give at least one"),
    "empty mapping": ({}, "Got no views; give at least one"),
    "sample counts": ({"a": X, "b": X[:3]}, "View 'b' has 3 samples but view 'a' has 4; all views must have the same"),
    "1-D": ([X, np.arange(4.0)], r"View 'view_1' is 1-D with shape \(4,\).*Reshape your data"),
    "3-D": (np.zeros((2, 3, 4)), r"View 'view_0' is 3-D with shape \(2, 3, 4\).*Reshape"),
    "series": (pd.Series([1.0, 2]), "is 1-D with shape"),
    "sparse 1-D": ([sp.coo_array(np.arange(3.0))], "is 1-D with shape"),
    "scalars": ([1.0, 2.0], "is 0-D with shape"),
    "ragged": ([[1.0, 2.0], [3.0]], "not a rectangular table"),
    "text columns": (
        {"rna": pd.DataFrame({"gene": ["x", "y"], "n": [1, 2], "type": ["u", "v"]})},
        "View 'rna' has non-numeric columns: 'gene', 'type'. Drop them, encode them",
    ),
    "categories": (pd.DataFrame({"c": pd.Categorical([1, 2])}), "non-numeric columns: 'c'"),
    "dates": (pd.DataFrame({"when": pd.to_datetime(["2020", "2021"])}), "non-numeric columns: 'when'"),
    "date array": ([np.array([["2020"]], "M8[D]")], "dtype datetime64.*not numeric; give numbers only"),
    "text array": ([np.array([["a", "b"]])], "dtype <U1, which is not numeric; give numbers only"),
    "zero columns": (
        {"a": X, "b": np.zeros((4, 0))},
        r"View 'b' has 0 feature\(s\) \(shape=\(4, 0\)\).*Remove this view",
    ),
    "zero samples": (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
    "complex": ({"a": X * 1j}, "View 'a' has complex dtype complex128.*use the real and the imaginary part"),
    "complex sparse": ({"a": sp.csr_array(X * 1j)}, "View 'a' has complex dtype complex128"),
    "complex frame": ({"a": pd.DataFrame({"z": [1j, 2.0]})}, "View 'a' has complex dtype complex128"),
    "large integers": (
        {"id": np.array([[2**53 + 1]])},
        f"View 'id' contains an integer of size {2**53 + 1}, beyond the {2**53}.*drop it",
    ),
    "large negative": ([np.array([[-(2**63)]])], f"integer of size {2**63}"),
    "large sparse": ([sp.csr_array(np.array([[2**60, 0]]))], f"integer of size {2**60}"),
    "large column": ({"a": pd.DataFrame({"id": [2**60], "x": [0.5]})}, f"View 'a' contains an integer of size {2**60}"),
    "large nullable": (
        pd.DataFrame({"id": pd.array([2**60, None], "Int64"), "x": [0.5, 1]}),
        f"integer of size {2**60}",
    ),
    "large unsigned": (pd.DataFrame({"id": np.array([2**63], "u8"), "x": [-1]}), f"integer of size {2**63}"),
    "object text": (
        [np.array([[1, "b"]], object)],
        r"View 'view_0' contains 'b' \(a str\) at row 0, column 1, which is text",
    ),
    "object None": (
        [np.array([[1, 2], [None, 3]], object)],
        r"contains None \(a NoneType\) at row 1, column 0; give numbers",
    ),
    "object complex": ([np.array([[1j]], object)], r"contains 1j \(a complex\)"),
    "object overflow": ([np.array([[10**400]], object)], "too large for a float.*Rescale"),
    "object column": (pd.DataFrame({"o": np.array([1, 2.5], object)}), "non-numeric columns: 'o'"),
    "overflow of long double": ([np.array([[np.longdouble("1e400")]])], "1 infinity values"),
    "repeated names": ({1: X, "1": Y}, "View name '1' is used more than once; give each view its own name"),
    "a string": ("table.csv", "Got views of type str; give a list, tuple or dict of 2-D tables"),
    "None": (None, "Got views of type NoneType"),
    "a generator": ((table for table in [X]), "Got views of type generator"),
    "None among views": ([X, None], "View 'view_1' contains None"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_input_gets_a_message_that_says_what_and_what_to_do(case):
    data, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        check_views(data)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["array", "sparse", "frame", "float32"])
def test_infinite_values_are_counted_and_placed(value, kind):
    table = X.copy()
    table[1, 1] = table[2, 2] = table[3, 2] = value
    table[0, 0] = np.nan
    wrap = {
        "array": np.asarray,
        "sparse": sp.csr_array,
        "frame": lambda t: pd.DataFrame(t, columns=["p", "q", "r"]),
        "float32": np.float32,
    }
    column = "'q'" if kind == "frame" else "1"
    message = rf"View 'b' contains 3 infinity values in 2 column\(s\), the first in column {column}\. Replace them"
    with pytest.raises(InputError, match=message):
        check_views({"a": X, "b": wrap[kind](table)})


@pytest.mark.parametrize("size", [1e300, 1.7e308, 5e-324])
def test_huge_and_tiny_values_are_let_through(size):
    np.testing.assert_array_equal(check_views([np.full((3, 2), size)]).arrays[0], size)


# Names -------------------------------------------------------------------------------------------


def test_names_and_ids_can_be_given_and_survive_a_second_pass():
    views = Views(Views([X, Y], names=["s", "t"], sample_ids=list("abcd")))
    assert views.names == ("s", "t")
    assert views.sample_ids.tolist() == list("abcd")


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]])
def test_wrong_number_of_names_is_refused(names):
    with pytest.raises(InputError, match=f"Got {len(names)} names for 2 views"):
        Views([X, Y], names=names)


def test_wrong_number_of_ids_is_refused():
    with pytest.raises(InputError, match="Got 3 sample_ids for 4 samples"):
        Views([X], sample_ids=[1, 2, 3])


def test_feature_names_are_the_columns_of_frames():
    views = Views({"a": FRAME, "b": Y})
    assert views.feature_names[0].tolist() == ["p", "q", "r"]
    assert views.feature_names[0].dtype == Views(pd.DataFrame(X)).feature_names[0].dtype == object
    assert views.feature_names[1] is None
    assert Views(views).feature_names is views.feature_names


@pytest.mark.parametrize(
    "other", [Y, pd.DataFrame(Y), pd.DataFrame(Y, index=list("abcd"))], ids=["array", "counted", "same"]
)
def test_sample_ids_come_from_the_frames(other):
    assert Views([other, FRAME]).sample_ids.tolist() == list("abcd")


def test_an_index_that_only_counts_gives_no_ids_but_a_part_of_it_does():
    assert Views(pd.DataFrame(X)).sample_ids is None
    assert Views(pd.DataFrame(X).iloc[2:]).sample_ids.tolist() == [2, 3]


@pytest.mark.parametrize(
    "index",
    [
        list("abdc"),
        [1, 2, 3, 4],
        range(5, 9),
        pd.date_range("2020", periods=4),
        pd.MultiIndex.from_product([[1], range(4)]),
    ],
    ids=["permuted", "numbers", "range", "dates", "multi"],
)
def test_frames_of_other_samples_are_refused_with_the_first_difference(index):
    with pytest.raises(
        InputError, match=r"Sample \d is .* in view 'b' but .* in view 'a'; put the tables in the same order"
    ):
        Views({"a": FRAME, "b": pd.DataFrame(Y, index=index)})


def test_repr_pickle_and_copy():
    views = Views({"a": FRAME, "b": Y})
    assert repr(views) == "Views(4 samples; features a: 3, b: 2)"
    for twin in (pickle.loads(pickle.dumps(views)), copy.deepcopy(views)):
        assert (repr(twin), twin.sample_ids.tolist()) == (repr(views), list("abcd"))


def test_tables_in_shuffled_order_are_refused_beside_tables_that_count_their_rows():
    shuffled = pd.DataFrame(Y).iloc[[2, 0, 1, 3]]
    for tables in ([pd.DataFrame(X), shuffled], [shuffled, pd.DataFrame(X)]):
        with pytest.raises(InputError, match=r"Sample 0 is '0' in view 'view_\d' but '2' in view 'view_\d'"):
            Views(tables)
    chosen = pd.DataFrame(Y, index=[5, 2, 9, 7])  # some rows of a larger table say nothing about another table
    assert Views([pd.DataFrame(X), chosen]).sample_ids.tolist() == [5, 2, 9, 7]
    assert Views([shuffled, Y]).sample_ids.tolist() == [2, 0, 1, 3]


class OtherFrame:
    """A DataFrame of another library than pandas, such as polars."""

    def __init__(self, values):
        self.values, self.columns, self.dtypes = values, ["p", "q", "r"], ["Float64"] * 3

    def to_numpy(self):
        return self.values


def test_frames_of_other_libraries_become_views():
    for views in (Views([OtherFrame(X)]), Views(OtherFrame(X))):
        np.testing.assert_array_equal(views.arrays[0], X)
        assert views.feature_names[0].tolist() == ["p", "q", "r"]
    with pytest.raises(InputError, match=r"contains 'word' \(a str\) at row 2, column 1"):
        Views([OtherFrame(np.where(X == 7, "word", X.astype(object)))])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok"])
@pytest.mark.parametrize("index", [-1, 77])
def test_sparse_matrices_with_an_index_out_of_range_are_refused(form, index):
    """scipy does not check, and reads and writes memory that is not its own."""
    matrix = sp.csr_array(X).asformat(form)
    if form == "lil":
        matrix.rows[1][0] = index
    elif form == "dok":
        matrix._dict[1, index] = 1.0
    else:
        (matrix.coords[1] if form == "coo" else matrix.indices)[0] = index
    with pytest.raises(InputError, match="'view_0' is not a valid sparse matrix"):
        Views([matrix])


@pytest.mark.parametrize("table", [np.arange(4.0), sp.coo_array(np.arange(4.0))], ids=["dense", "sparse"])
def test_a_row_alone_is_refused_by_the_name_of_its_view(table):
    with pytest.raises(InputError, match="View 'rna' is 1-D"):
        Views({"rna": table})


def test_infinities_of_both_signs_are_counted():
    with pytest.raises(InputError, match=r"contains 2 infinity values in 2 column\(s\)"):
        check_views([np.where(X == 4, np.inf, np.where(X == 5, -np.inf, X))])


def test_whole_numbers_beside_missing_ones_are_not_rounded():
    exact, beyond = (pd.DataFrame({"a": pd.array([2**53 + more, None], dtype="Int64")}) for more in (0, 1))
    np.testing.assert_array_equal(Views([exact]).arrays[0], [[2.0**53], [np.nan]])
    with pytest.raises(InputError, match=f"an integer of size {2**53 + 1}"):
        Views([beyond])


def test_views_that_were_checked_are_not_made_again():
    views = Views([X, Y])
    assert check_views(views) is views
