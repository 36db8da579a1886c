from __future__ import annotations

from graph_builder import GraphBuilder
from rules.diagnosis import at, codes, one


def test_fires_when_the_optimizer_was_built_for_others() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, a)], optimizer="adam", where=at(5))
    g.update([(b, b)], optimizer="adam", where=at(9), unknown=[b])
    found = one(g.finish())

    assert found.code == "WG205"
    assert found.message == "the optimizer `adam` was not built for `b`"
    assert found.primary is not None
    assert found.primary.span == at(9)
    assert [label.span for label in found.related] == [at(5)]


def test_shows_no_first_use_of_another_optimizer() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, a)], optimizer_id=1, where=at(5))
    g.update([(b, b)], optimizer_id=2, where=at(9), unknown=[b])

    assert one(g.finish()).related == ()


def test_silent_when_the_optimizer_knows_all_its_variables() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, a), (b, b)], where=at(5))
    g.update([(b, b)], where=at(9))

    assert codes(g.finish()) == []


def test_silent_when_each_part_has_its_own_optimizer() -> None:
    g = GraphBuilder()
    a, b = g.variable("a"), g.variable("b")
    g.update([(a, a)], optimizer_id=1, where=at(5))
    g.update([(b, b)], optimizer_id=2, where=at(6))

    assert codes(g.finish()) == []


def test_leaves_variables_that_are_recreated_in_every_step_to_their_own_rule() -> None:
    g = GraphBuilder()
    made = [g.variable("w", created=at(3), made_in_step=step) for step in range(3)]
    for step, w in enumerate(made):
        g.update([(w, w)], where=at(9), unknown=[w] if step else ())

    assert codes(g.finish()) == ["WG203"]


def test_advises_a_new_optimizer_where_a_line_makes_a_model_for_each_fold() -> None:
    g = GraphBuilder()
    made = [g.variable("w", created=at(3), made_in_step=step) for step in (0, 5)]
    g.update([(made[0], made[0])], where=at(9), seen=5)
    g.update([(made[1], made[1])], where=at(9), unknown=[made[1]])
    found = one(g.finish())

    assert (found.code, found.help) == ("WG205", "make a new optimizer together with each new model")
