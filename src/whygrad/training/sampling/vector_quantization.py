"""Vector quantisation: each vector is replaced by the nearest one of a codebook."""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from whygrad.arguments import check_number
from whygrad.backends.tensorflow.measure.graph_building import unconverted
from whygrad.training.sampling import arguments
from whygrad.training.sampling.arguments import ParameterError, Tensor, TensorLike


class Quantized(NamedTuple):
    """The nearest entries of a codebook."""

    values: Tensor  # exactly entries of the codebook; their gradient goes to the inputs unchanged
    indices: Tensor  # int32, the shape of the inputs without the last axis
    loss: Tensor  # scalar: moves codebook and inputs towards one another; add it to yours


@unconverted
def vq(inputs: TensorLike, codebook: TensorLike, *, commitment: float = 0.25) -> Quantized:
    """The nearest entries of `codebook` (shape [entries, size]) to `inputs` (shape [..., size]).

    Gradients: that of `values` goes to `inputs` as if nothing had happened, and never to the codebook; that of `loss`
    goes to the codebook, and `commitment` times as strong to the inputs. Bias: that of straight-through, small where
    the decoder is nearly linear over the distance to the codebook. Variance: none is added. Distances are computed
    in float32 or wider.
    """
    inputs = arguments.floating(inputs, "inputs")
    codebook = arguments.matching(codebook, inputs, "codebook", "inputs")
    _check_sizes(inputs, codebook)
    wanted, advice = "a number of at least 0", "pass 0.25, or 0 to leave it out"
    check_number("commitment", commitment, wanted, lambda x: x >= 0, help=advice, error=ParameterError)
    wide, entries = arguments.widened(inputs), arguments.widened(codebook)
    flat = wide if wide.shape.rank == 2 else tf.reshape(wide, [-1, tf.shape(entries)[1]])
    # The square of the input is the same for every entry: it does not change which is nearest.
    distances = tf.reduce_sum(tf.square(entries), 1) - 2.0 * tf.matmul(flat, entries, transpose_b=True)
    indices = tf.argmin(distances, 1, output_type=tf.int32)
    if wide.shape.rank != 2:
        indices = tf.reshape(indices, tf.shape(wide)[:-1])
    nearest = tf.gather(entries, indices)
    fixed, fixed_nearest = tf.stop_gradient(wide), tf.stop_gradient(nearest)
    loss = tf.reduce_mean(tf.square(fixed - nearest))
    loss += commitment * tf.reduce_mean(tf.square(wide - fixed_nearest))
    values = fixed_nearest + (wide - fixed)
    return Quantized(arguments.narrowed(values, inputs.dtype), indices, arguments.narrowed(loss, inputs.dtype))


def _check_sizes(inputs: Tensor, codebook: Tensor) -> None:
    if inputs.shape.rank == 0 or (codebook.shape.rank not in (None, 2)):
        raise ParameterError(
            f"`inputs` has shape {inputs.shape} and `codebook` {codebook.shape}",
            help="pass inputs of shape [..., size] and a codebook of shape [entries, size]",
        )
    if inputs.shape.rank is None or codebook.shape.rank is None:
        return
    if not inputs.shape[-1:].is_compatible_with(codebook.shape[-1:]):
        raise ParameterError(
            f"the vectors of `inputs` have size {inputs.shape[-1]} and those of `codebook` {codebook.shape[-1]}",
            help="give the codebook vectors of the same size, or project the inputs with a Dense layer first",
        )
