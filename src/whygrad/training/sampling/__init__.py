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

from whygrad.training.sampling.arguments import ParameterError as ParameterError
from whygrad.training.sampling.comparison.compare import compare as compare
from whygrad.training.sampling.comparison.result import Comparison as Comparison
from whygrad.training.sampling.draw import Draw as Draw
from whygrad.training.sampling.draw import draw_bernoulli as draw_bernoulli
from whygrad.training.sampling.draw import draw_categorical as draw_categorical
from whygrad.training.sampling.draw import draw_normal as draw_normal
from whygrad.training.sampling.gamma import implicit_beta as implicit_beta
from whygrad.training.sampling.gamma import implicit_dirichlet as implicit_dirichlet
from whygrad.training.sampling.gamma import implicit_gamma as implicit_gamma
from whygrad.training.sampling.normal import reparameterized_normal as reparameterized_normal
from whygrad.training.sampling.rebar import rebar as rebar
from whygrad.training.sampling.relaxed import TemperatureSchedule as TemperatureSchedule
from whygrad.training.sampling.relaxed import gumbel_softmax as gumbel_softmax
from whygrad.training.sampling.relaxed import relaxed_bernoulli as relaxed_bernoulli
from whygrad.training.sampling.score_function import MovingAverage as MovingAverage
from whygrad.training.sampling.score_function import score_function as score_function
from whygrad.training.sampling.straight_through import straight_through as straight_through
from whygrad.training.sampling.straight_through import straight_through_argmax as straight_through_argmax
from whygrad.training.sampling.straight_through import straight_through_onehot as straight_through_onehot
from whygrad.training.sampling.straight_through import straight_through_round as straight_through_round
from whygrad.training.sampling.straight_through import straight_through_sign as straight_through_sign
from whygrad.training.sampling.straight_through import straight_through_top_k as straight_through_top_k
from whygrad.training.sampling.vector_quantization import Quantized as Quantized
from whygrad.training.sampling.vector_quantization import vq as vq
