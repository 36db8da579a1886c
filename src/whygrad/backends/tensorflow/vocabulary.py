"""What TensorFlow and Keras call the things that advice speaks of. Data only, read without TensorFlow."""

from __future__ import annotations

from typing import Final

from whygrad.diagnostics import Word

WORDS: Final[dict[Word, str]] = {
    Word.FRAMEWORK: "TensorFlow",
    Word.TAPE: "tf.GradientTape",
    Word.GRADIENT: "tape.gradient",
    Word.WATCH: "tape.watch",
    Word.STOP_GRADIENT: "tf.stop_gradient",
    Word.CUSTOM_GRADIENT: "tf.custom_gradient",
    Word.COMPILED_FUNCTION: "tf.function",
    Word.VARIABLE: "tf.Variable",
    Word.ASSIGN: "assign",
    Word.ASSIGN_ADD: "assign_add",
    Word.ASSIGN_SUB: "assign_sub",
    Word.TO_NUMPY: ".numpy()",
    Word.TO_DENSE: "tf.convert_to_tensor",
    Word.SPARSE_GRADIENT: "tf.IndexedSlices",
    Word.FLOAT32: "tf.float32",
    Word.COND: "tf.cond",
    Word.RANDOM_UNIFORM: "tf.random.uniform",
    Word.CLOCK: "tf.timestamp",
    Word.IS_FINITE: "tf.math.is_finite",
    Word.ROUND: "tf.round",
    Word.SIGMOID: "tf.sigmoid",
    Word.SOFTPLUS: "tf.nn.softplus",
    Word.TANH: "tf.tanh",
    Word.SQUEEZE: "tf.squeeze",
    Word.ADD_ALL: "tf.add_n",
    Word.NORMALIZE: "tf.math.l2_normalize",
    Word.MODULE: "tf.Module",
    Word.NETWORK: "keras.Model",
    Word.NETWORK_LIBRARY: "Keras",
    Word.NETWORK_VARIABLE: "keras.Variable",
    Word.ADD_VARIABLE: "add_weight",
    Word.CLONE_NETWORK: "keras.models.clone_model",
    Word.SCATTER_UPDATE: "tf.tensor_scatter_nd_update",
    Word.SCATTER_ADD: "tf.tensor_scatter_nd_add",
    Word.SCATTER_SUB: "tf.tensor_scatter_nd_sub",
    Word.CHECKPOINT: "tf.train.Checkpoint",
    Word.SEVERAL_DEVICES: "tf.distribute.MirroredStrategy",
}
