"""A summary of gradients as a table: to print, sort, look into, and hand on."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from whygrad.arguments import check_choice
from whygrad.errors import UnknownNameError, UsageError
from whygrad.training.summary.view import TOTAL, as_html, as_table

NOTHING: Final = (
    "there are no gradients: the list of variables is empty\n"
    "help: build the model first, by calling it on a batch; Keras 3 does not track a plain `tf.Variable` attribute"
)

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of gradients, a row for each variable or group, and the total.

    `summary["dense/kernel"]` is a row as a dict, `summary.norm` a column as an array, `summary.total` the total.
    Inside `tf.function` the columns are tensors; the function may return the summary.
    """

    label: str  # what a row is: variable, layer, model, group
    names: tuple[str, ...]
    variables: tuple[int, ...]  # how many gradients are in each row
    missing: tuple[int, ...]  # how many of them are None
    columns: Mapping[str, Any]  # vectors, one entry a row and the total last
    order: tuple[int, ...] | None = None  # rows as sorted; None: as they came

    def __getattr__(self, name: str) -> Any:
        columns: Mapping[str, Any] = object.__getattribute__(self, "columns")
        if name in columns:
            return self.column(name)
        raise AttributeError(f"a summary has no column `{name}`, only {', '.join(columns)}")

    def column(self, name: str) -> Any:
        """One column without the total, rows in order: an array, or inside `tf.function` a tensor."""
        if not isinstance(name, str) or name not in self.columns:
            raise UnknownNameError(name, self.columns, "column")
        if self.is_symbolic:
            return self.columns[name][:-1]
        return np.asarray(self.columns[name])[list(self._order)]

    @property
    def is_symbolic(self) -> bool:
        """Whether the numbers are only known when the graph runs."""
        return any(
            not hasattr(column, "__array__") or (hasattr(column, "graph") and not hasattr(column, "numpy"))
            for column in self.columns.values()
        )

    @property
    def total(self) -> dict[str, Any]:
        """All gradients together."""
        return self._row(len(self.names), sum(self.variables), sum(self.missing))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return (self.names[i] for i in self._order)

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self.names:
            raise UnknownNameError(name, self.names, self.label)
        i = self.names.index(name)
        return self._row(i, self.variables[i], self.missing[i])

    def sort(self, by: str = "norm", *, descending: bool = True) -> Summary:
        """The same rows by one column, largest first unless `descending=False`; those without a number come last."""
        check_choice("by", by, ("name", *self.columns))
        if by == "name":
            order = sorted(range(len(self)), key=self.names.__getitem__, reverse=descending)
        else:
            order = sorted(range(len(self)), key=_rank(np.asarray(self.columns[by]), descending))
        return replace(self, order=tuple(order))

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """`{row: {column: number}}`, the total last; a missing gradient has None in every column."""
        return {**self._rows(), TOTAL: self.total}

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`, rows named, without the total."""
        try:
            import pandas
        except ImportError as error:
            raise UsageError("`to_pandas` needs pandas", help="pip install pandas") from error
        return pandas.DataFrame.from_dict(self._rows(), orient="index").rename_axis(self.label)

    @property
    def _order(self) -> tuple[int, ...]:
        return tuple(range(len(self.names))) if self.order is None else self.order

    def _rows(self) -> dict[str, dict[str, Any]]:
        return {name: self[name] for name in self}

    def _row(self, i: int, variables: int, missing: int) -> dict[str, Any]:
        empty = variables > 0 and missing == variables
        values = {
            key: None if empty else _scalar(column[i]) if not self.is_symbolic else column[i]
            for key, column in self.columns.items()
        }
        return {"variables": variables, "missing": missing, **values}

    def __str__(self) -> str:
        if not self.names:
            return NOTHING
        if self.is_symbolic:
            return f"<Summary of {len(self)} rows by {self.label}, known when the graph runs>"
        from rich.console import Console

        longest = max(len(name) for name in (*self.names, self.label))
        console = Console(file=io.StringIO(), width=longest + 16 * (len(self.columns) + 2), color_system=None)
        console.print(self.__rich__())
        lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def __rich__(self) -> Table:
        return as_table(self.label, self._rows(), self.total)

    def _repr_html_(self) -> str:
        if self.is_symbolic or not self.names:
            return f"<pre>{escape(str(self))}</pre>"
        return as_html(self.label, self._rows(), self.total)

    def __tf_flatten__(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        facts = (self.label, self.names, self.variables, self.missing, tuple(self.columns), self.order)
        return facts, tuple(self.columns.values())

    @classmethod
    def __tf_unflatten__(cls, metadata: tuple[Any, ...], components: tuple[Any, ...]) -> Summary:
        label, names, variables, missing, keys, order = metadata
        return cls(label, names, variables, missing, dict(zip(keys, components, strict=True)), order)


def _scalar(value: Any) -> Any:
    number: Any = np.asarray(value)[()]
    return complex(number) if isinstance(number, complex) else float(number)


def _rank(values: Any, descending: bool) -> Any:
    def key(i: int) -> tuple[bool, float]:
        number = abs(values[i]) if isinstance(values[i], complex) else float(values[i])
        return (math.isnan(number), -number if descending else number)

    return key
