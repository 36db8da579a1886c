"""Estimators that carry gradients through samples and discrete choices; `compare` measures them on your own loss.

| step in your model | estimator | bias | variance |
| --- | --- | --- | --- |
| normal sample | `reparameterized_normal` | none | low |
| gamma, beta, Dirichlet sample | `implicit_gamma`, `implicit_beta`, `implicit_dirichlet` | none | low |
| category, soft | `gumbel_softmax` | falls with the temperature | grows as it falls |
| category, one-hot | `gumbel_softmax(hard=True)`, `straight_through_onehot` | yes | low |
| bit | `relaxed_bernoulli` | as `gumbel_softmax` | as `gumbel_softmax` |
| any sample with a known probability | `score_function` with a baseline | none | high |
| category, loss smooth in between | `rebar` | none | lower |
| round, sign, top-k, any discrete function | `straight_through...` | yes | none added |
| nearest of a codebook | `vq` | yes | none added |
"""

from whygrad.training.sampling.arguments import ParameterError
from whygrad.training.sampling.baseline import MovingAverage
from whygrad.training.sampling.comparison import Comparison, compare
from whygrad.training.sampling.draw import Draw, draw_bernoulli, draw_categorical, draw_normal
from whygrad.training.sampling.gamma import implicit_beta, implicit_dirichlet, implicit_gamma
from whygrad.training.sampling.normal import reparameterized_normal
from whygrad.training.sampling.rebar import rebar
from whygrad.training.sampling.relaxed import gumbel_softmax, relaxed_bernoulli
from whygrad.training.sampling.score_function import score_function
from whygrad.training.sampling.straight_through import (
    straight_through,
    straight_through_argmax,
    straight_through_onehot,
    straight_through_round,
    straight_through_sign,
    straight_through_top_k,
)
from whygrad.training.sampling.temperature import TemperatureSchedule
from whygrad.training.sampling.vector_quantization import Quantized, vq

__all__ = [
    "Comparison",
    "Draw",
    "MovingAverage",
    "ParameterError",
    "Quantized",
    "TemperatureSchedule",
    "compare",
    "draw_bernoulli",
    "draw_categorical",
    "draw_normal",
    "gumbel_softmax",
    "implicit_beta",
    "implicit_dirichlet",
    "implicit_gamma",
    "rebar",
    "relaxed_bernoulli",
    "reparameterized_normal",
    "score_function",
    "straight_through",
    "straight_through_argmax",
    "straight_through_onehot",
    "straight_through_round",
    "straight_through_sign",
    "straight_through_top_k",
    "vq",
]
