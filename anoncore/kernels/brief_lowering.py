"""How kernels' most frequent expressions are written in LLVM's intermediate language: in as few instructions as needed.

numba writes every read of an array's item as if it could be anything: it stores the array's description in memory,
reads shape and strides back field by field, and looks up the function that does all this among dozens. That takes most
of the time in which it translates a kernel, and LLVM then needs longer to clear it away again. Here the few expressions
that kernels consist of are written directly: items of arrays at whole numbers, shapes of arrays, and loops over ranges.
The result is what LLVM makes of numba's own; whatever else there is is left to numba.

This uses numba's inner interfaces: how its representation of a function is translated.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, ir
from numba.core import types as numba_types
from numba.core.lowering import Lower

types: Any = numba_types
"""numba's types, whose annotations leave most of them out."""

ARITHMETIC = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.iadd: "add",
    operator.isub: "sub",
    operator.imul: "mul",
}
"""LLVM's instruction for an operation on two numbers of 64 bits; on floats it begins with an f."""
COMPARISONS = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
"""LLVM's sign of a comparison."""
ONE_STEP = (1, 2)
"""Numbers of arguments with which a range counts in steps of one."""


class BriefLower(Lower):  # type: ignore[misc]
    """Translates a function, its most frequent expressions directly."""

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """The value of an expression."""
        brief = self._brief(resty, expr)
        return super().lower_expr(resty, expr) if brief is None else brief

    def _brief(self, kind: Any, expr: Any) -> Any:
        """The value of an expression that can be written directly, None of any other."""
        if expr.op in ("getitem", "static_getitem"):
            return self._item(kind, expr)
        if expr.op == "getattr" and expr.attr == "shape" and isinstance(self.typeof(expr.value.name), types.Array):
            return self._field(expr.value.name, "shape")
        if expr.op in ("getiter", "iternext") and not self.generator_info:
            return self._loop(expr)
        if expr.op in ("pair_first", "pair_second") and not self._may_hold_memory(kind):
            return self.builder.extract_value(self.loadvar(expr.value.name), int(expr.op == "pair_second"))
        return None

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """The value of an operation on two values; of the usual ones on two whole numbers or two floats, directly."""
        signature = self.fndesc.calltypes[expr]
        brief = None
        if signature.args in ((types.int64, types.int64), (types.float64, types.float64)):
            given = ((self.loadvar(one.name), self.typeof(one.name)) for one in (expr.lhs, expr.rhs))
            numbers = [
                self.context.cast(self.builder, *each, kind) for each, kind in zip(given, signature.args, strict=True)
            ]
            brief = self._calculated(op, numbers, signature)
        if brief is None:
            return super().lower_binop(resty, expr, op)
        return self.context.cast(self.builder, brief, signature.return_type, resty)

    def _calculated(self, op: Any, numbers: list[Any], signature: Any) -> Any:
        """The value of an operation on two numbers of one type, None of one that is left to numba."""
        kind = signature.args[0]
        if op in ARITHMETIC and signature.return_type == kind:
            if kind == types.float64:
                return getattr(self.builder, f"f{ARITHMETIC[op]}")(*numbers)
            # Whole numbers that overflow would be an error of the kernel: LLVM may leave that out of account.
            return getattr(self.builder, ARITHMETIC[op])(*numbers, flags=["nsw"])
        if op not in COMPARISONS or signature.return_type != types.boolean:
            return None
        if kind == types.int64:
            return self.builder.icmp_signed(COMPARISONS[op], *numbers)
        # Everything is unequal to NaN, and nothing else holds of it.
        compare = self.builder.fcmp_unordered if op is operator.ne else self.builder.fcmp_ordered
        return compare(COMPARISONS[op], *numbers)

    def _may_hold_memory(self, kind: Any) -> bool:
        """Whether values of a type could be counted by references."""
        return not isinstance(kind, (types.Number, types.Boolean))

    def _field(self, name: str, field: str) -> Any:
        """A field of the description of the array that a variable holds."""
        position = self.context.data_model_manager[self.typeof(name)].get_field_position(field)
        return self.builder.extract_value(self.loadvar(name), position)

    def _item(self, kind: Any, expr: Any) -> Any:
        """The number that an array holds at a place."""
        signature, whole = self.fndesc.calltypes[expr], self.typeof(expr.value.name)
        index = expr.index if expr.op == "getitem" else expr.index_var
        if signature is None or index is None or signature.args[0] != whole:
            return None
        place = self._place(expr.value.name, index.name, signature.args[1])
        if place is None:
            return None
        value = self.context.unpack_value(self.builder, whole.dtype, place)
        return self.context.cast(self.builder, value, whole.dtype, kind)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an item; one number into an array directly."""
        whole, given = signature.args[0], self.typeof(value_var.name)
        is_number = isinstance(given, (types.Number, types.Boolean)) and whole == self.typeof(target_var.name)
        place = self._place(target_var.name, index_var.name, signature.args[1]) if is_number else None
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), given, signature.args[2])
        value = self.context.cast(self.builder, value, signature.args[2], whole.dtype)
        self.context.pack_value(self.builder, whole.dtype, value, place)
        return None

    def _place(self, array: str, index: str, by: Any) -> Any:
        """Where in memory the item of an array lies, None if it is no number or no whole numbers say where."""
        kind, given = self.typeof(array), self.typeof(index)
        steps = tuple(by) if isinstance(by, types.BaseTuple) else (by,)
        if not isinstance(kind, types.Array) or not isinstance(kind.dtype, (types.Integer, types.Float, types.Boolean)):
            return None
        if len(steps) != kind.ndim or not kind.aligned or not all(isinstance(step, types.Integer) for step in steps):
            return None
        builder, value = self.builder, self.context.cast(self.builder, self.loadvar(index), given, by)
        at = cgutils.unpack_tuple(builder, value, len(steps)) if isinstance(by, types.BaseTuple) else [value]
        shape = self._field(array, "shape")
        places = [self._counted_from_start(*each, shape, axis) for axis, each in enumerate(zip(at, steps, strict=True))]
        data = self._field(array, "data")
        if kind.layout == "C":
            # The items of one row lie side by side: the place of (i, j) is i * columns + j.
            place = places[0]
            for axis in range(1, kind.ndim):
                place = builder.add(builder.mul(place, builder.extract_value(shape, axis)), places[axis])
            return builder.gep(data, [place])
        strides = self._field(array, "strides")
        offsets = [builder.mul(builder.extract_value(strides, axis), one) for axis, one in enumerate(places)]
        return cgutils.pointer_add(builder, data, reduce(builder.add, offsets))

    def _counted_from_start(self, at: Any, step: Any, shape: Any, axis: int) -> Any:
        """A whole number as a place along an axis: one below 0 counts from its end."""
        if not step.signed:
            return self.context.cast(self.builder, at, step, types.uintp)
        place = self.context.cast(self.builder, at, step, types.intp)
        if isinstance(place, llvm.Constant) and place.constant >= 0:
            return place
        from_end = self.builder.add(self.builder.extract_value(shape, axis), place)
        is_from_end = self.builder.icmp_signed("<", place, place.type(0))
        return self.builder.select(is_from_end, from_end, place)

    def _loop(self, expr: Any) -> Any:
        """A loop over a range of whole numbers in steps of one: its beginning, or its next number."""
        kind = self.typeof(expr.value.name)
        if expr.op == "getiter":
            is_range = isinstance(kind, types.RangeType) and self._counts_in_ones(expr.value)
            return self._first_of_range(expr.value.name) if is_range else None
        return self._next_of_range(expr.value.name) if isinstance(kind, types.RangeIteratorType) else None

    def _counts_in_ones(self, variable: Any) -> bool:
        """Whether a range has steps of one: it was made with one or two arguments."""
        made = self.func_ir._definitions.get(variable.name, [])
        return len(made) == 1 and isinstance(made[0], ir.Expr) and made[0].op == "call" and self._is_short(made[0])

    def _is_short(self, call: Any) -> bool:
        """Whether a call has as many arguments as a range in steps of one."""
        return len(call.args) in ONE_STEP and not call.kws and call.vararg is None

    def _first_of_range(self, name: str) -> Any:
        """The state of a loop: where its next number stands, its end and step, and where it counts what is left."""
        builder, state = self.builder, self.loadvar(name)
        start, stop, step = (builder.extract_value(state, position) for position in range(3))
        number, left = cgutils.alloca_once(builder, start.type), cgutils.alloca_once(builder, start.type)
        size = builder.sub(stop, start)
        builder.store(start, number)
        builder.store(builder.select(builder.icmp_signed(">", size, size.type(0)), size, size.type(0)), left)
        return cgutils.pack_struct(builder, [number, stop, step, left])

    def _next_of_range(self, name: str) -> Any:
        """The next number of a loop, and whether there is one."""
        builder, state = self.builder, self.loadvar(name)
        number, step, left = (builder.extract_value(state, position) for position in (0, 2, 3))
        count, value = builder.load(left), builder.load(number)
        is_there = builder.icmp_signed(">", count, count.type(0))
        with builder.if_then(is_there):
            builder.store(builder.sub(count, count.type(1), flags=["nsw"]), left)
            builder.store(builder.add(value, step), number)
        return cgutils.pack_struct(builder, [value, is_there])
