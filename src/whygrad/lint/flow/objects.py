"""Layers, networks, optimizers and instances of the user's classes: how they are made, called and read."""

from __future__ import annotations

import ast
from typing import Final

from whygrad.backends.api import Does, Role
from whygrad.lint.flow.facts import Holding, Late, Reading, Use
from whygrad.lint.flow.operations import Operations
from whygrad.lint.values.questions import is_weightless
from whygrad.lint.values.reach import flat as parts
from whygrad.lint.values.value import (
    Function,
    Group,
    Items,
    Kind,
    Klass,
    Known,
    Literal,
    Method,
    Node,
    Object,
    Super,
    Table,
    Value,
)

LISTS: Final = {
    "trainable_variables": "trainable",
    "trainable_weights": "trainable",
    "variables": "all",
    "weights": "all",
    "non_trainable_variables": "fixed",
    "non_trainable_weights": "fixed",
}
CALLABLE: Final = (Role.LAYER, Role.LAMBDA, Role.SEQUENTIAL, Role.NETWORK)
HOLDERS: Final = (*CALLABLE, Role.MODULE)
_WEIGHTS: Final = ("kernel", "bias", "embeddings", "gamma", "beta", "w", "b")


class Objects(Operations):
    """What classes make."""

    training: Value | None = None  # what the network that is being called was told

    def role_of(self, dotted: str) -> Role | None:
        role = self.api.roles.get(dotted)
        if role is not None:
            return role
        home, _, name = dotted.rpartition(".")
        family = self.api.families.get(home)
        if name.isupper() and family in (Role.LOSS, Role.METRIC):  # `MSE` is a function
            return None
        return family if family is Role.DATASET or name[:1].isupper() else None

    def make(self, role: Role, dotted: str, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        """An object of a class of the framework."""
        made = Object(role, where, arguments, words, self.place, dotted)
        if role is Role.SEQUENTIAL:
            given = made.given("layers", 0) or Items([])
            made.members = list(given.items) if isinstance(given, Items) and given.complete else None
            made.built = made.members is None or any(_declares_input(each) for each in made.members)
            for each in parts(given) if made.built else ():
                if isinstance(each, Object) and each.klass is None:
                    each.built = True
        elif role is Role.NETWORK and not dotted.startswith(self.api.finished):
            made.outputs = ends(arguments, words)
            made.members = _layers_up_to(made.outputs)
        elif role in (Role.LAYER, Role.LAMBDA):
            made.built = is_weightless(made, self.api)
        for member in made.members or ():
            for each in parts(member):
                if isinstance(each, Object):
                    each.owners.append(made)
        self.facts.objects.append(made)
        return made

    def instance(self, klass: Klass, arguments: list[Value], words: dict[str, Value], where: ast.AST) -> Object:
        """An instance of the user's class; its `__init__` is followed."""
        role = None if klass.framework_base is None else self.role_of(klass.framework_base)
        made = Object(role, where, arguments, words, self.place, klass=klass, built=role not in CALLABLE)
        self.facts.objects.append(made)
        init = klass.find("__init__")
        if isinstance(init, Function) and isinstance(where, ast.Call):
            self.call(init.bound(made), arguments, words, where)
        elif role is Role.NETWORK and (arguments or words) and init is None:
            made.outputs = ends(arguments, words)
            made.members = _layers_up_to(made.outputs)
            made.built = True
        return made

    # being called

    def call_object(self, made: Object, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        """Called with `training=`, a network tells all that it holds."""
        before = self.training
        self.training = words.get("training", words.get("**", before))
        try:
            return self._called(made, arguments, words, where)
        finally:
            self.training = before

    def _called(self, made: Object, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        if made.klass is not None:
            return self._call_instance(made, arguments, words, where)
        match made.role:
            case Role.SEQUENTIAL:
                return self._through(made, arguments, words, where)
            case Role.NETWORK if made.outputs is not None:
                made.called = made.built = True
                return self._replay(made, arguments, where)
            case Role.LAMBDA:
                made.called = made.built = True
                function = made.given("function", 0)
                if isinstance(function, (Function, Known)):
                    return self.call(function, arguments, {}, where)
                return self.unknown(where, tuple(arguments))
            case Role.LAYER | Role.NETWORK:
                return self._layer(made, arguments, words, where)
            case Role.LOSS:
                result = self.node(Kind.TENSOR, where, Does.SMOOTH, (*arguments, *words.values()), "float")
                use = Use(made.dotted, where, self.place, where, arguments, words, made, "__call__")
                self.facts.uses.append(use)
                return result
            case Role.METRIC:
                made.state = self.unknown(where, tuple(arguments))
                return self.node(Kind.TENSOR, where, Does.STATE, tuple(arguments), "float")
            case Role.OPTIMIZER:
                return self.unknown(where)
        return self.unknown(where, tuple(arguments))

    def _layer(self, made: Object, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        made.called = made.built = True
        result = self._opaque(made, arguments, words, where)
        activation = made.words.get("activation")
        if activation is None and made.short == "Activation" and made.arguments:
            activation = made.arguments[0]
        does = self.api.activation_layers.get(made.short)
        if isinstance(activation, Literal) and isinstance(activation.value, str):
            does = self.api.activations.get(activation.value)
        elif isinstance(activation, (Function, Known, Object)):
            return self.call(activation, [result], {}, where)
        if does is None or does is Does.MOVE:
            return result
        return self.node(Kind.TENSOR, where, does, (result,), "float")

    def _through(self, made: Object, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        """Through the layers of a sequential network, one after the other."""
        made.called = made.built = True
        if made.members is None:
            return self._opaque(made, arguments, words, where)
        value = arguments[0] if arguments else self.unknown(where)
        for member in made.members:
            if isinstance(member, Object) and member.role is not Role.INPUT:
                takes_flag = member.short in self.api.flagged or member.klass is not None
                value = self.call(member, [value], words if takes_flag else {}, where)
            elif not isinstance(member, Node) or member.does is not Does.CONSTANT:
                return self._opaque(made, arguments, words, where)
        return value

    def _opaque(self, made: Object, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Node:
        result = self.node(Kind.TENSOR, where, Does.LAYER, tuple(arguments), "float")
        result.callee, result.words = made, self._told(words)
        return result

    def _told(self, words: dict[str, Value]) -> dict[str, Value]:
        return words if self.training is None else {**words, "training": self.training}

    def _replay(self, made: Object, arguments: list[Value], where: ast.Call) -> Value:
        """The graph of a functional network, computed anew for what it is called with."""
        assert made.outputs is not None
        inputs = list(parts(made.outputs[0]))
        given = [each for value in arguments[:1] for each in parts(value)]
        given = given if len(given) == len(inputs) else given * len(inputs)
        copies = {id(each): value for each, value in zip(inputs, given, strict=False)}
        return self._copied(made.outputs[1], copies, where, 0)

    def _copied(self, value: Value, copies: dict[int, Value], where: ast.Call, depth: int) -> Value:
        if id(value) in copies or depth > 200:
            return copies.get(id(value), value)
        if isinstance(value, Items):
            return Items([self._copied(each, copies, where, depth + 1) for each in value.items], value.where)
        if isinstance(value, Table):
            return Table(
                {k: self._copied(each, copies, where, depth + 1) for k, each in value.items.items()}, value.where
            )
        if not isinstance(value, Node) or not value.inputs:
            return value
        inputs = tuple(self._copied(each, copies, where, depth + 1) for each in value.inputs)
        made = self.node(value.kind, value.where, value.does, inputs, value.dtype)
        made.callee, made.words, made.name = value.callee, self._told(value.words), value.name
        if isinstance(made.callee, Object):
            made.callee.called = made.callee.built = True
        copies[id(value)] = made
        return made

    def _call_instance(self, made: Object, arguments: list[Value], words: dict[str, Value], where: ast.Call) -> Value:
        klass = made.klass
        assert klass is not None
        has_call = made.role in CALLABLE or made.role is Role.LOSS
        function = (klass.find("call") if has_call else None) or klass.find("__call__")
        if made.inside:
            return self._opaque(made, arguments, words, where)
        made.inside = True
        if not made.built:
            made.built = True
            build = klass.find("build")
            if isinstance(build, Function):
                self.call(build.bound(made), [self.unknown(where)], {}, where)
        made.called = True
        if made.outputs is not None and function is None:
            made.inside = False
            return self._replay(made, arguments, where)
        if not isinstance(function, Function):
            made.inside = False
            return self._opaque(made, arguments, words, where)
        known = {arg.arg for arg in (*function.node.args.args, *function.node.args.kwonlyargs)}
        if "training" not in known and function.node.args.kwarg is None:
            words = {name: value for name, value in words.items() if name != "training"}
        result = self.call(function.bound(made), arguments, words, where)
        made.inside = False
        return result

    # attributes

    def attribute_of(self, made: Object, name: str, where: ast.expr) -> Value:
        if name in made.attributes:
            return made.attributes[name]
        member = made.klass.find(name) if made.klass is not None else None
        if isinstance(member, Function):
            decorators = [each.id for each in getattr(member.node, "decorator_list", ()) if isinstance(each, ast.Name)]
            if "property" in decorators:
                call = ast.Call(func=where, args=[], keywords=[])
                return self.call(member.bound(made), [], {}, ast.copy_location(call, where))
            return member if "staticmethod" in decorators else member.bound(made)
        if member is not None:
            return member
        if made.role in HOLDERS or (made.role is None and made.klass is not None and _has_unknown_base(made.klass)):
            found = self._of_layer(made, name, where)
            if found is not None:
                return found
        if made.role is not None or name in _METHODS_OF_ALL or made.klass is None or _has_unknown_base(made.klass):
            return Method(made, name, where)
        return self.child(made, name, where)

    def _of_layer(self, made: Object, name: str, where: ast.expr) -> Value | None:
        if name in LISTS:
            return self.read_variables(made, LISTS[name], where)
        if name == "layers" and made.members is not None:
            return Items([each for each in made.members if isinstance(each, Object)], where)
        if name in _WEIGHTS and made.klass is None:
            variable = self.node(Kind.VARIABLE, where)
            variable.parent, variable.name = made, name
            made.attributes[name] = variable
            return variable
        if name in _HELD:
            return self.child(made, name, where)
        return None

    def read_variables(self, owner: Value, which: str, where: ast.AST) -> Items:
        group = Group(owner, which, self.is_built(owner))
        held_back = isinstance(owner, Object) and owner.frozen and which == "trainable"
        found = Items([], where, complete=False) if held_back else self.variables_of(group, where)
        self.facts.readings.append(Reading(group, where, self.place, self.time))
        return found

    def is_built(self, owner: Value) -> bool:
        """Whether an object has all its variables; True where that cannot be told."""
        if not isinstance(owner, Object) or owner.role is Role.MODULE:
            return True
        if owner.built or owner.inside:
            return True
        if owner.klass is None:
            return False
        # A network of the user's: it may hold layers that are built already, or weights made in `__init__`.
        held = [each for each in owner.contents() if each is not owner]
        layers = [each for each in held if isinstance(each, Object) and each.role in CALLABLE]
        if owner.klass.find("build") is None and not layers:
            return True
        return all(layer.built for layer in layers) and owner.klass.find("build") is None

    def set_attribute(self, owner: Value, name: str, value: Value, where: ast.stmt) -> None:
        if isinstance(owner, Object):
            self.facts.holdings.append(Holding(owner, name, value, where, self.place, self.time))
            if name == "trainable" and isinstance(value, Literal):
                owner.frozen = value.value is False
            if owner.role is None and isinstance(value, Object):
                value.built = True  # what is done with it is not known
            owner.attributes[name] = self.tracked(value, where) if self._copies(owner) else value
        elif isinstance(owner, Node):
            if owner.attributes is None:
                owner.attributes = {}
            owner.attributes[name] = value

    def _copies(self, owner: Object) -> bool:
        """Whether an object takes copies of the lists that it is given, to keep track of what is in them."""
        return owner.role in CALLABLE and owner.home.startswith(self.api.networks)

    def tracked(self, value: Value, where: ast.AST) -> Value:
        """The copy of a list or dictionary that a network keeps; anything else is itself."""
        made: Items | Table
        if isinstance(value, Items) and not value.tracked and value.form == "list":
            made = Items([self.tracked(each, where) for each in value.items], value.where, complete=value.complete)
            made.repeated = value.repeated
        elif isinstance(value, Table) and not value.tracked:
            made = Table({key: self.tracked(each, where) for key, each in value.items.items()}, value.where)
        else:
            return value
        made.tracked, value.copied = True, where
        return made

    def joined(self, container: Items | Table, value: Value, where: ast.AST) -> Value:
        """What a list or dictionary holds once a value was put into it."""
        if container.copied is not None:
            self.facts.late.append(Late(value, where, container.copied))
        return self.tracked(value, where) if container.tracked else value

    def super_attribute(self, base: Super, name: str, where: ast.expr) -> Value:
        if base.klass is not None:
            for each in base.klass.ancestors():
                member = each.members.get(name)
                if isinstance(member, Function):
                    return member.bound(base.self_)
        return Method(base, name, where)


_HELD: Final = (
    *("optimizer", "compiled_loss", "compiled_metrics", "metrics", "losses", "loss"),
    *("input", "output", "inputs", "outputs"),
)
_METHODS_OF_ALL: Final = frozenset(("add_weight", "add_loss", "fit", "compile", "build", "apply_gradients", "summary"))


def _has_unknown_base(klass: Klass) -> bool:
    """Whether a class, or one above it, comes from a file that was not read."""
    return any(not isinstance(base, Klass) for base in klass.all_bases())


def _declares_input(value: Value) -> bool:
    if isinstance(value, Object):
        return value.role is Role.INPUT or "input_shape" in value.words or "input_dim" in value.words or value.called
    return isinstance(value, Node)


def ends(arguments: list[Value], words: dict[str, Value]) -> tuple[Value, Value] | None:
    """The inputs and outputs that a functional network is made from; None where it is made otherwise."""
    found = (*arguments[:2], *(words[word] for word in ("inputs", "outputs") if word in words))
    return (found[0], found[1]) if len(found) == 2 else None


def _layers_up_to(outputs: tuple[Value, Value] | None) -> list[Value] | None:
    """The layers that a functional network goes through."""
    if outputs is None:
        return None
    found: dict[int, Value] = {}
    seen: set[int] = set()
    waiting = list(parts(outputs[1]))
    while waiting:
        value = waiting.pop()
        if id(value) in seen or not isinstance(value, Node):
            continue
        seen.add(id(value))
        if isinstance(value.callee, Object):
            found[id(value.callee)] = value.callee
        if value.kind is Kind.VARIABLE and isinstance(value.parent, Object):
            found[id(value.parent)] = value.parent  # a layer of the user's, whose call was followed
        waiting += [each for one in value.inputs for each in parts(one)]
    return list(found.values())
