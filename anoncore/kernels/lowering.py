"""How kernels are written in LLVM's intermediate language: nobody counts references that callers hold anyway.

numba lets every variable hold a reference of its own to the memory of an array. An inner kernel that takes workspaces
of a dozen arrays then counts all of them up when it is called and down when it returns, and again for each of their
fields that it names. Whoever calls a function holds what they hand to it until the function returns, so that all this
counting changes nothing: here a variable that can only stand for an argument, or for a piece of one, holds no reference
of its own. Such a variable is called borrowed. Whatever is returned, stored elsewhere or newly made is counted as ever.

Of variables that hold no memory, such as numbers, numba's code also wipes the old value before each new one and after
their last use, which only the counting needs. That is left out as well.

This uses numba's inner interfaces: how its representation of a function is translated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.core import cgutils, ir
from numba.core import types as numba_types
from numba.core.typed_passes import BaseNativeLowering, NativeLowering, register_pass

from anoncore.kernels.brief_lowering import BriefLower

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numba.core.lowering import Lower

types: Any = numba_types
"""numba's types, whose annotations leave most of them out."""

MEMORY = types.MemInfoPointer(types.voidptr)
"""numba's type of the counter that stands beside the memory of an array."""


class BorrowingLower(BriefLower):
    """Translates a function whose arguments are held by its caller."""

    def init(self) -> None:
        """Find the borrowed variables before anything is translated."""
        super().init()
        self._with_memory: dict[Any, bool] = {}
        self._borrowed = set() if self.generator_info else self._find_borrowed()

    def _find_borrowed(self) -> set[str]:
        """Variables that stand for arguments, or for pieces of them, whichever way the function goes."""
        assigned: dict[str, list[Any]] = {}
        returned = set()
        for block in self.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    assigned.setdefault(statement.target.name, []).append(statement.value)
                elif isinstance(statement, ir.Return):
                    returned.add(statement.value.name)
        borrowed = {name for name in assigned if name not in returned and self._holds_memory(self.typeof(name))}
        # One that takes the value of a variable that is not borrowed is not borrowed either.
        while True:
            left = {
                name for name in borrowed if all(self._is_borrowed(name, value, borrowed) for value in assigned[name])
            }
            if left == borrowed:
                return borrowed
            borrowed = left

    def _is_borrowed(self, name: str, value: Any, borrowed: set[str]) -> bool:
        """Whether the value that a variable takes is an argument or a piece of a variable among `borrowed`."""
        kind = self.typeof(name)
        if isinstance(value, ir.Arg):
            return bool(self.typeof(f"arg.{value.name}") == kind)
        if isinstance(value, ir.Var):
            return value.name in borrowed and self.typeof(value.name) == kind
        if not isinstance(value, ir.Expr) or value.op not in ("getattr", "static_getitem", "getitem", "exhaust_iter"):
            return False
        if value.value.name not in borrowed:
            return False
        whole = self.typeof(value.value.name)
        if isinstance(whole, types.BaseTuple):
            index = self._position(whole, value)
            return whole == kind if value.op == "exhaust_iter" else index is not None and whole[index] == kind
        return self._is_view(whole, kind, value)

    def _position(self, whole: Any, value: Any) -> int | None:
        """Which item of a tuple an expression takes, if it takes one that is known."""
        if value.op == "getattr" and isinstance(whole, types.BaseNamedTuple) and value.attr in whole.fields:
            return int(whole.fields.index(value.attr))
        if value.op == "static_getitem" and isinstance(value.index, int) and -len(whole) <= value.index < len(whole):
            return value.index % len(whole)
        return None

    def _is_view(self, whole: Any, kind: Any, value: Any) -> bool:
        """Whether an expression is a part of an array that lies in the array's memory, not a copy."""
        if value.op not in ("static_getitem", "getitem") or not isinstance(whole, types.Array):
            return False
        signature = self.fndesc.calltypes[value]
        if signature is None or signature.return_type != kind or not isinstance(kind, types.Array):
            return False
        by = signature.args[1]
        steps = tuple(by) if isinstance(by, types.BaseTuple) else (by,)
        return all(isinstance(step, (types.Integer, types.SliceType, types.EllipsisType)) for step in steps)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """The value that a variable takes; a borrowed one counts no reference."""
        value = inst.value
        if inst.target.name not in self._borrowed:
            return super().lower_assign(ty, inst)
        if isinstance(value, ir.Arg):
            return self.fnargs[value.index]
        if isinstance(value, ir.Var):
            return self.loadvar(value.name)
        kind = self.typeof(value.value.name)
        if not isinstance(kind, types.BaseTuple):
            # numba counts a reference for the view; LLVM drops what is counted up and at once down again.
            view = super().lower_assign(ty, inst)
            self.decref(ty, view)
            return view
        whole = self.loadvar(value.value.name)
        return whole if value.op == "exhaust_iter" else self.builder.extract_value(whole, self._position(kind, value))

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store the value of a variable; the old one is only loaded where it must be counted down."""
        kind = self.typeof(name)
        self._alloca_var(name, kind)
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
            return
        slot = self.getvar(name)
        if argidx is None and self._is_counted(name, kind):
            self.decref(kind, self.builder.load(slot))
        self.builder.store(value, slot)

    def delvar(self, name: str) -> None:
        """End a variable; only one that holds a reference has something to give back."""
        if self._is_counted(name, self.typeof(name)):
            super().delvar(name)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """A slot for a variable, without what only debuggers ask."""
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)

    def _holds_memory(self, kind: Any) -> bool:
        """Whether values of a type hold memory whose references are counted."""
        known = self._with_memory.get(kind)
        if known is None:
            known = self._with_memory[kind] = self.context.data_model_manager[kind].contains_nrt_meminfo()
        return known

    def _is_counted(self, name: str, kind: Any) -> bool:
        """Whether a variable holds references of its own."""
        return name not in self._borrowed and self._holds_memory(kind)

    def _counters(self, kind: Any, value: Any) -> Iterator[Any]:
        """The counters of all memory that a value holds; numba's own way takes every field of every array."""
        if not self._holds_memory(kind):
            return
        if isinstance(kind, types.Array):
            position = self.context.data_model_manager[kind].get_field_position("meminfo")
            yield self.builder.extract_value(value, position)
        elif isinstance(kind, types.BaseTuple):
            for position, item in enumerate(kind):
                if self._holds_memory(item):
                    yield from self._counters(item, self.builder.extract_value(value, position))
        else:
            yield from (counter for _, counter in self.context.nrt.get_meminfos(self.builder, kind, value))

    def incref(self, typ: Any, val: Any) -> None:
        """Count a reference more for all memory that a value holds."""
        for counter in self._counters(typ, val):
            super().incref(MEMORY, counter)

    def decref(self, typ: Any, val: Any) -> None:
        """Count a reference less for all memory that a value holds."""
        for counter in self._counters(typ, val):
            super().decref(MEMORY, counter)


@register_pass(mutates_CFG=True, analysis_only=False)
class BorrowingLowering(BaseNativeLowering):  # type: ignore[misc]
    """The step of numba's compiler that translates a function, by `BorrowingLower`."""

    _name = "borrowing_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """What translates the function."""
        return BorrowingLower


def borrow(steps: Any) -> None:
    """Let a list of the compiler's steps translate functions without counting what callers hold."""
    steps.passes = [(BorrowingLowering if one is NativeLowering else one, about) for one, about in steps.passes]
    steps.finalize()
