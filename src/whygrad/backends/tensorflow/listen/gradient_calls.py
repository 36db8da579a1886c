"""Calls that ask a tape for gradients or give them to an optimizer: one way to hear of them, for whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks

ADDING: Final = ("assign_add", "scatter_add")
SUBTRACTING: Final = ("assign_sub", "scatter_sub")
REPLACING: Final = ("assign", "scatter_update", "batch_scatter_update")

Around = Callable[[Any, list[Any], list[Any], Callable[[list[Any]], Any]], Any]


class RequestListener(Protocol):
    """Hears of `tape.gradient(target, sources)` before and after; what `begin` returns is handed to the other two."""

    def begin(self, tape: Any, target: Any, sources: Any, method: str, unconnected: Any, given: Any) -> Any: ...
    def done(self, ticket: Any, result: Any) -> None: ...
    def failed(self, ticket: Any, error: BaseException) -> None: ...


class UpdateListener(Protocol):
    """Hears when an optimizer is given gradients, and when it is done; what `begin` returns is handed to `end`."""

    def begin(self, optimizer: Any, gradients: list[Any], variables: list[Any]) -> Any: ...
    def end(self, began: Any) -> None: ...


def hear_requests(hooks: Hooks, listener: RequestListener, *methods: str) -> None:
    """Hook these methods of the tape's class; `tf.GradientTape` is the same object everywhere."""

    def asking(method: str) -> Any:
        def wrap(original: Any) -> Any:
            def ask(self: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
                __tracebackhide__ = True
                if hooks.broken:
                    return original(self, target, *args, **kwargs)
                sources = args[0] if args else kwargs.get("sources", kwargs.get("source"))
                options = kwargs.get("unconnected_gradients", args[2] if len(args) > 2 else None)
                given = kwargs.get("output_gradients", args[1] if len(args) > 1 and method == "gradient" else None)
                ticket = hooks.safely(listener.begin, self, target, sources, method, options, given)
                try:
                    result = original(self, target, *args, **kwargs)
                except BaseException as error:
                    hooks.safely(listener.failed, ticket, error)
                    raise
                hooks.safely(listener.done, ticket, result)
                hooks.afterwards(self)
                return result

            return ask

        return wrap

    for method in methods:
        hooks.replace(compat.GradientTape, method, asking(method))


def stand_around_updates(hooks: Hooks, owner: Any, method: str, around: Around) -> None:
    """Have `around(optimizer, gradients, variables, update)` make each update, by calling `update(gradients)`.

    `method` is `apply(gradients, variables)` of Keras 3, or `apply_gradients(pairs)` of tf_keras.
    """

    def wrap_apply(original: Any) -> Any:
        def apply(self: Any, grads: Any, trainable_variables: Any = None, **kwargs: Any) -> Any:
            if not isinstance(grads, (list, tuple)):  # Keras itself says what is wrong
                return original(self, grads, trainable_variables, **kwargs)
            given = None if trainable_variables is None else list(trainable_variables)
            variables = compat.trainables_of(self) if given is None else given
            return around(self, list(grads), variables, lambda new: original(self, new, given, **kwargs))

        return apply

    def wrap_pairs(original: Any) -> Any:
        def apply_gradients(self: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = list(grads_and_vars)
            variables = [variable for _, variable in pairs]

            def update(new: list[Any]) -> Any:
                return original(self, list(zip(new, variables, strict=True)), *args, **kwargs)

            return around(self, [gradient for gradient, _ in pairs], variables, update)

        return apply_gradients

    hooks.replace(owner, method, wrap_apply if method == "apply" else wrap_pairs)


def hear_updates(hooks: Hooks, owner: Any, method: str, listener: UpdateListener) -> None:
    """Tell a listener of each update that a class of optimizers makes; none of them is changed."""

    def around(optimizer: Any, gradients: list[Any], variables: list[Any], update: Callable[[list[Any]], Any]) -> Any:
        __tracebackhide__ = True
        began = hooks.safely(listener.begin, optimizer, gradients, variables)
        try:
            result = update(gradients)
        finally:
            hooks.safely(listener.end, began)
        hooks.afterwards(None)
        return result

    stand_around_updates(hooks, owner, method, around)


def hear_all_updates(hooks: Hooks, listener: UpdateListener) -> None:
    """The same for every class of every family of optimizers that is loaded."""
    for base, method in compat.optimizer_bases():
        for owner in _definers(base, method):
            hear_updates(hooks, owner, method, listener)


def hear_clipping(hooks: Hooks, clipped: Callable[[list[Any], list[Any]], None]) -> None:
    """Tell of the gradients that an optimizer clips, as it was given them and as it goes on with them."""

    def wrap(original: Any) -> Any:
        def clip(optimizer: Any, grads: Any) -> Any:
            grads = list(grads)
            result = list(original(optimizer, grads))
            hooks.safely(clipped, grads, result)
            return result

        return clip

    for base, _ in compat.optimizer_bases():
        for name in compat.CLIPPING_METHODS:
            for owner in _definers(base, name):
                hooks.replace(owner, name, wrap)


def hear_reductions(hooks: Hooks, reduced: Callable[[list[Any]], None]) -> None:
    """Tell of the lists of gradients that replicas have summed: by a call of their own, or by an optimizer's."""

    def wrap(original: Any) -> Any:
        def all_reduce(context: Any, reduce_op: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(context, reduce_op, value, *args, **kwargs)
            if isinstance(result, list):
                hooks.safely(reduced, result)
            return result

        return all_reduce

    def wrap_pairs(original: Any) -> Any:
        def aggregate(optimizer: Any, grads_and_vars: Any) -> Any:
            result = list(original(optimizer, grads_and_vars))
            hooks.safely(reduced, [gradient for gradient, _ in result if gradient is not None])
            return result

        return aggregate

    hooks.replace(compat.ReplicaContext, "all_reduce", wrap)
    for base, _ in compat.optimizer_bases():
        for owner in _definers(base, compat.SUMMING_METHOD):
            hooks.replace(owner, compat.SUMMING_METHOD, wrap_pairs)


def hear_writes(variable: Any, wrote: Callable[[Any, str, Any], None]) -> Callable[[], None]:
    """Tell of what is written to one variable, by methods of its own that shadow its class's; returns what ends it."""
    names = (*ADDING, *SUBTRACTING, *REPLACING) if hasattr(variable, "__dict__") else ()

    def shadow(name: str, original: Any) -> Any:
        def write(value: Any, *args: Any, **kwargs: Any) -> Any:
            wrote(variable, name, value)
            return original(value, *args, **kwargs)

        return write

    for name in names:
        original = getattr(variable, name, None)
        if original is not None:
            vars(variable)[name] = shadow(name, original)

    def end() -> None:
        for name in names:
            vars(variable).pop(name, None)

    return end


def _definers(base: Any, name: str) -> Iterator[Any]:
    """The classes of a family that define a method themselves."""
    seen: set[type] = set()
    todo = [*base.__mro__, base]
    while todo:
        kind = todo.pop()
        if kind in seen or kind is object:
            continue
        seen.add(kind)
        todo.extend(kind.__subclasses__() if issubclass(kind, base) else ())
        if name in vars(kind):
            yield kind
