"""The public names of TensorFlow, Keras and NumPy as lint knows them. Data only, read without TensorFlow."""

from __future__ import annotations

from typing import Final

from whygrad.backends.api import Api, Does, Gone, Role

_D = Does
_BY_WHAT: Final[dict[Does, str]] = {
    _D.MOVE: "identity reshape transpose expand_dims squeeze concat concatenate stack unstack split slice "
    "strided_slice "
    "tile pad reverse flip roll broadcast_to ensure_shape repeat flatten ravel permute_dimensions swapaxes moveaxis "
    "convert_to_tensor boolean_mask tensor_scatter_nd_update tensor_scatter_nd_add sort diag diag_part matrix_diag "
    "band_part append pack split_v dynamic_partition copy hstack vstack",
    _D.CONSTANT: "constant range arange meshgrid constant_initializer",
    _D.FILLED: "zeros ones eye linspace fill full",
    _D.SHAPE: "shape size rank zeros_like ones_like shape_n ndim int_shape full_like empty_like sequence_mask",
    _D.COMPARE: "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not logical_xor "
    "is_nan isnan is_finite isfinite is_inf isinf in_top_k reduce_all reduce_any all any isclose allclose "
    "categorical_accuracy binary_accuracy sparse_categorical_accuracy sparse_top_k_categorical_accuracy "
    "top_k_categorical_accuracy",
    _D.ROUND: "round rint floor ceil floordiv floor_divide trunc truncatediv",
    _D.SIGN: "sign",
    _D.INDEX: "argmax argmin argsort arg_max arg_min unique unique_with_counts histogram_fixed_width "
    "histogram_fixed_width_bins bucketize searchsorted digitize count_nonzero confusion_matrix non_max_suppression "
    "listdiff edit_distance nonzero argpartition histogram",
    _D.ONE_HOT: "one_hot to_categorical",
    _D.CAST: "cast saturate_cast to_int32 to_int64",
    _D.STOP: "stop_gradient",
    _D.NOISE: "uniform normal truncated_normal random_normal random_uniform stateless_uniform stateless_normal shuffle "
    "stateless_truncated_normal standard_normal random_normal_initializer",
    _D.SAMPLE: "categorical stateless_categorical poisson stateless_poisson binomial stateless_binomial multinomial "
    "random_categorical",
    _D.FOREIGN: "numpy_function py_func",
    _D.UNREGISTERED: "adjust_contrast adjust_saturation random_contrast random_saturation adjust_hue random_hue "
    "lu logm expm bincount",
    _D.TO_ARRAY: "convert_to_numpy make_ndarray get_value get_static_value",
    _D.SELECT: "where switch select",
    _D.GATHER: "gather gather_nd take embedding_lookup take_along_axis batch_gather",
    _D.LOG: "log log2 log10",
    _D.SQRT: "sqrt",
    _D.RSQRT: "rsqrt reciprocal",
    _D.EXP: "exp expm1",
    _D.DIVIDE: "divide truediv true_divide div",
    _D.DIVIDE_SAFELY: "divide_no_nan multiply_no_nan",
    _D.POWER: "pow power",
    _D.NORM: "norm euclidean_norm reduce_euclidean_norm global_norm",
    _D.DEVIATION: "reduce_std std",
    _D.INVERSE_TRIG: "acos asin acosh atanh arccos arcsin arccosh arctanh",
    _D.ADD: "add add_n accumulate_n",
    _D.SUBTRACT: "subtract",
    _D.MULTIPLY: "multiply",
    _D.NEGATE: "negative neg",
    _D.SQUARE: "square squared_difference",
    _D.ABS: "abs absolute",
    _D.SUM: "reduce_sum sum l2_loss cumsum",
    _D.REDUCE: "reduce_mean reduce_max reduce_min mean max min reduce_prod prod amax amin",
    _D.MAXIMUM: "maximum",
    _D.MINIMUM: "minimum",
    _D.CLIP: "clip_by_value clip",
    _D.RELU: "relu relu6",
    _D.SIGMOID: "sigmoid hard_sigmoid",
    _D.SOFTMAX: "softmax",
    _D.LOG_SOFTMAX: "log_softmax log_sigmoid logsumexp reduce_logsumexp",
    _D.POSITIVE: "softplus cosh epsilon",
    _D.CLIP_GRADIENTS: "clip_by_global_norm clip_by_norm clip_by_average_norm",
    _D.CALLS: "cond while_loop map_fn vectorized_map scan fori_loop foldl foldr recompute_grad map switch_case case "
    "while_loop_v2 nest_map map_structure",
    _D.CALLS_PYTHON: "py_function",
    _D.SMOOTH: "tanh matmul tensordot einsum conv2d conv1d conv2d_transpose dot elu selu gelu swish silu "
    "leaky_relu erf "
    "sin cos tan atan sinh lgamma digamma mse mae mean_squared_error mean_absolute_error binary_crossentropy "
    "categorical_crossentropy sparse_categorical_crossentropy huber kl_divergence log_cosh cosine_similarity "
    "softmax_cross_entropy_with_logits sparse_softmax_cross_entropy_with_logits sigmoid_cross_entropy_with_logits "
    "weighted_cross_entropy_with_logits l2_normalize normalize log1p xlogy reduce_variance var moments bias_add "
    "dropout "
    "max_pool avg_pool batch_normalization layer_normalization inv solve cholesky det logdet slogdet trace segment_sum "
    "unsorted_segment_sum unsorted_segment_mean segment_mean softsign top_k average multiply_add cumprod real imag "
    "atan2 arctan2 arctan",
}
_FUNCTIONS: Final = {name: what for what, names in _BY_WHAT.items() for name in names.split()}
_BY_WHOLE_NAME: Final = {
    "tf.random.gamma": _D.SMOOTH,
    "tf.random.categorical": _D.SAMPLE,
    "keras.random.gamma": _D.SMOOTH,
    "keras.random.beta": _D.SMOOTH,
    "keras.random.binomial": _D.SAMPLE,
    "keras.ops.image.affine_transform": _D.INDEX,
    "tf.raw_ops.ImageProjectiveTransformV3": _D.INDEX,
    "tf.data.experimental.cardinality": _D.CONSTANT,
    "tf.map_fn": _D.CALLS,
    "tf.function": _D.CALLS,
    "tf.nn.normalize_moments": _D.SMOOTH,
    "tf.strings.length": _D.CONSTANT,
}

_OWN_ROLES: Final[dict[str, Role]] = {
    "tf.GradientTape": Role.TAPE,
    "tf.Variable": Role.VARIABLE,
    "keras2.backend.variable": Role.NETWORK_VARIABLE,
    "keras.Variable": Role.NETWORK_VARIABLE,
    "keras.layers.Layer": Role.LAYER,
    "keras.Layer": Role.LAYER,
    "keras.layers.Lambda": Role.LAMBDA,
    "keras.Input": Role.INPUT,
    "keras.layers.Input": Role.INPUT,
    "keras.layers.InputLayer": Role.INPUT,
    "keras.Sequential": Role.SEQUENTIAL,
    "keras.models.Sequential": Role.SEQUENTIAL,
    "keras.Model": Role.NETWORK,
    "keras.models.Model": Role.NETWORK,
    "keras.Functional": Role.NETWORK,
    "tf.Module": Role.MODULE,
    "keras.Optimizer": Role.OPTIMIZER,
    "keras.mixed_precision.LossScaleOptimizer": Role.OPTIMIZER,
    "keras.Loss": Role.LOSS,
    "keras.Metric": Role.METRIC,
    "tf.function": Role.COMPILED,
    "tf.custom_gradient": Role.CUSTOM_GRADIENT,
    "tf.TensorArray": Role.ARRAY_OF_TENSORS,
    "keras.initializers.Initializer": Role.OTHER,
}


def _both(table: dict[str, Role]) -> dict[str, Role]:
    """The same for Keras 2."""
    return table | {n.replace("keras.", "keras2.", 1): role for n, role in table.items() if n.startswith("keras.")}


_OWN_FAMILIES: Final = {
    "keras.layers": Role.LAYER,
    "keras.optimizers": Role.OPTIMIZER,
    "keras.optimizers.legacy": Role.OPTIMIZER,
    "tf.optimizers": Role.OPTIMIZER,
    "keras.losses": Role.LOSS,
    "tf.losses": Role.LOSS,
    "keras.metrics": Role.METRIC,
    "tf.metrics": Role.METRIC,
    "keras.applications": Role.NETWORK,
    "tf.data": Role.DATASET,
}

_RENAMED: Final = (
    "log=math.log log1p=math.log1p ceil=math.ceil div_no_nan=math.divide_no_nan erf=math.erf expm1=math.expm1 "
    "rsqrt=math.rsqrt reciprocal=math.reciprocal lgamma=math.lgamma digamma=math.digamma is_nan=math.is_nan "
    "is_finite=math.is_finite is_inf=math.is_inf mod=math.floormod count_nonzero=math.count_nonzero "
    "squared_difference=math.squared_difference accumulate_n=math.accumulate_n angle=math.angle real=math.real "
    "imag=math.imag conj=math.conj log_sigmoid=math.log_sigmoid bincount=math.bincount cumprod=math.cumprod "
    "confusion_matrix=math.confusion_matrix segment_sum=math.segment_sum segment_mean=math.segment_mean "
    "unsorted_segment_sum=math.unsorted_segment_sum unsorted_segment_max=math.unsorted_segment_max rint=math.rint "
    "random_normal=random.normal random_uniform=random.uniform truncated_normal=random.truncated_normal "
    "random_shuffle=random.shuffle random_gamma=random.gamma random_poisson=random.poisson "
    "random_crop=image.random_crop "
    "multinomial=random.categorical set_random_seed=random.set_seed matrix_inverse=linalg.inv "
    "matrix_determinant=linalg.det matrix_diag=linalg.diag matrix_diag_part=linalg.diag_part matrix_solve=linalg.solve "
    "matrix_band_part=linalg.band_part matrix_transpose=linalg.matrix_transpose cholesky=linalg.cholesky qr=linalg.qr "
    "svd=linalg.svd trace=linalg.trace cross=linalg.cross diag=linalg.tensor_diag diag_part=linalg.tensor_diag_part "
    "self_adjoint_eig=linalg.eigh global_norm=linalg.global_norm fft=signal.fft ifft=signal.ifft "
    "sparse_tensor_to_dense=sparse.to_dense sparse_tensor_dense_matmul=sparse.sparse_dense_matmul "
    "check_numerics=debugging.check_numerics verify_tensor_all_finite=debugging.assert_all_finite "
    "lin_space=linspace arg_max=argmax arg_min=argmin depth_to_space=nn.depth_to_space "
    "space_to_depth=nn.space_to_depth "
    "read_file=io.read_file write_file=io.write_file parse_single_example=io.parse_single_example "
    "FixedLenFeature=io.FixedLenFeature VarLenFeature=io.VarLenFeature decode_raw=io.decode_raw "
    "string_join=strings.join string_split=strings.split substr=strings.substr VERSION=version.VERSION "
    "div=math.divide NotDifferentiable=no_gradient"
)
TAKE_GRADIENTS: Final = "take gradients with `with tf.GradientTape() as tape: ...` and `tape.gradient(loss, variables)`"
_DIRECT: Final = "there are no sessions any more: call the function directly, its tensors have values"
GONE_WITHOUT_A_NAME: Final = {
    "placeholder": "give the function an argument, or the model a `keras.Input`",
    "placeholder_with_default": "give the function an argument with a default",
    "Session": _DIRECT,
    "InteractiveSession": _DIRECT,
    "ConfigProto": _DIRECT,
    "global_variables_initializer": "leave it out: a variable has its value as soon as it is made",
    "initialize_all_variables": "leave it out: a variable has its value as soon as it is made",
    "get_variable": "make the variable once with `tf.Variable(...)`, and pass it on",
    "variable_scope": "keep the variables in a layer, a model or a `tf.Module`",
    "trainable_variables": "read `trainable_variables` of the layer or model",
    "global_variables": "read `variables` of the layer or model",
    "layers": "use the layers of `keras.layers`, and keep each in an attribute",
    "contrib": "its parts were removed, or moved to packages of their own, such as `tensorflow_probability`",
    "assign": "write `variable.assign(value)`",
    "assign_add": "write `variable.assign_add(value)`",
    "assign_sub": "write `variable.assign_sub(value)`",
    "to_float": "write `tf.cast(x, tf.float32)`",
    "to_int32": "write `tf.cast(x, tf.int32)`",
    "to_int64": "write `tf.cast(x, tf.int64)`",
    "reset_default_graph": "leave it out: there is no default graph any more",
    "get_default_graph": "leave it out: there is no default graph any more",
    "disable_eager_execution": "leave it out, or write `tf.compat.v1.disable_eager_execution()`",
    "enable_eager_execution": "leave it out: code runs eagerly by default",
    "disable_v2_behavior": "leave it out, or write `tf.compat.v1.disable_v2_behavior()`",
    "py_func": "write `tf.py_function` or `tf.numpy_function`",
    "logging": "use `logging` of Python, or `tf.get_logger()`",
    "app": "call your `main()` yourself",
    "flags": "use `argparse`",
}


def _gone() -> dict[str, Gone]:
    found = {
        f"tf.{name}": Gone(f"TensorFlow 2 has no `tf.{name}`", help_) for name, help_ in GONE_WITHOUT_A_NAME.items()
    }
    for pair in _RENAMED.split():
        old, _, new = pair.partition("=")
        found[f"tf.{old}"] = Gone(f"TensorFlow 2 has no `tf.{old}`", f"write `tf.{new}`", f"tf.{new}")
    for name in _OLD_OPTIMIZERS.split():
        new = {"GradientDescent": "SGD", "Momentum": "SGD", "RMSProp": "RMSprop"}.get(name, name)
        says = f"TensorFlow 2 has no `tf.train.{name}Optimizer`"
        found[f"tf.train.{name}Optimizer"] = Gone(says, f"use `keras.optimizers.{new}`, and {TAKE_GRADIENTS}")
    for name in _KERAS_BACKEND.split():
        new = _BACKEND_NOW.get(name, name)
        space = "random" if name.startswith("random_") else "ops"
        new = new.removeprefix("random_") if space == "random" else new
        says = f"Keras 3 has no `keras.backend.{name}`"
        found[f"keras.backend.{name}"] = Gone(says, f"write `keras.{space}.{new}`", f"keras.{space}.{new}")
    for name in ("gradients", "function", "get_session", "set_session", "placeholder", "learning_phase"):
        found[f"keras.backend.{name}"] = Gone(f"Keras 3 has no `keras.backend.{name}`", TAKE_GRADIENTS)
    for old, new in _KERAS_MOVED.items():
        found[f"keras.{old}"] = Gone(f"Keras 3 has no `keras.{old}`", f"write `keras.{new}`", f"keras.{new}")
    for name in ("CuDNNLSTM", "CuDNNGRU", "LocallyConnected1D", "LocallyConnected2D"):
        found[f"keras.layers.{name}"] = Gone(f"Keras 3 has no `keras.layers.{name}`", _LAYERS_NOW.get(name, _OWN_LAYER))
    return found


_OWN_LAYER: Final = "write it as a layer of your own"
_LAYERS_NOW: Final = {"CuDNNLSTM": "use `keras.layers.LSTM`", "CuDNNGRU": "use `keras.layers.GRU`"}
_KERAS_BACKEND: Final = (
    "mean sum square sqrt abs exp log max min maximum minimum clip cast shape zeros_like ones_like argmax "
    "softmax sigmoid tanh relu dot concatenate stack expand_dims squeeze flatten reshape transpose equal not_equal "
    "greater less round sign pow prod std var cumsum one_hot switch stop_gradient binary_crossentropy "
    "categorical_crossentropy sparse_categorical_crossentropy random_normal random_uniform constant zeros ones "
    "int_shape batch_dot l2_normalize repeat tile arange any all sin cos eval get_value set_value variable"
)
_BACKEND_NOW: Final = {
    "dot": "matmul",
    "clip": "clip",
    "pow": "power",
    "switch": "where",
    "flatten": "ravel",
    "int_shape": "shape",
    "batch_dot": "einsum",
    "l2_normalize": "normalize",
    "constant": "convert_to_tensor",
    "eval": "convert_to_numpy",
    "get_value": "convert_to_numpy",
    "set_value": "convert_to_tensor",
    "variable": "convert_to_tensor",
}
_KERAS_MOVED: Final = {
    "layers.experimental.preprocessing.Rescaling": "layers.Rescaling",
    "layers.experimental.preprocessing.Normalization": "layers.Normalization",
    "layers.experimental.preprocessing.RandomFlip": "layers.RandomFlip",
    "layers.experimental.preprocessing.RandomRotation": "layers.RandomRotation",
    "layers.experimental.preprocessing.Resizing": "layers.Resizing",
}
_RATE: Final = Gone("a Keras 3 optimizer does not accept `lr`", "write `learning_rate=`", "learning_rate")

_WEIGHTLESS: Final = (
    "Activation Add Average AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D CategoryEncoding "
    "CenterCrop Concatenate Cropping1D Cropping2D Dropout ELU Flatten GaussianDropout GaussianNoise "
    "GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool2D GlobalMaxPool2D "
    "GlobalMaxPooling1D GlobalMaxPooling2D Identity Input InputLayer Lambda LeakyReLU Masking MaxPool1D MaxPool2D "
    "MaxPooling1D MaxPooling2D MaxPooling3D Maximum Minimum Multiply Permute RandomFlip RandomRotation RandomZoom "
    "RandomCrop RandomContrast RandomTranslation RandomBrightness ReLU RepeatVector Rescaling Reshape Resizing "
    "Softmax SpatialDropout1D SpatialDropout2D StringLookup Subtract TextVectorization UpSampling1D UpSampling2D "
    "ZeroPadding1D ZeroPadding2D Dot AlphaDropout ActivityRegularization Hashing IntegerLookup Discretization "
    "UnitNormalization UpSampling3D ZeroPadding3D Cropping3D SpatialDropout3D GlobalMaxPooling3D MaxPool3D AvgPool3D "
    "GlobalAvgPool1D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool3D"
)
_INTEGERS: Final = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string int qint8 bool_ int_"
_FLOATS: Final = "float16 float32 float64 bfloat16 half double complex64 complex128 float"
_FLAGGED: Final = (
    "BatchNormalization Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D GaussianDropout GaussianNoise "
    "AlphaDropout"
)
_NOT_ON_TENSORS: Final = (
    "nest io summary distribute config data train debugging errors saved_model lookup autograph compat profiler tpu "
    "test types version sysconfig feature_column estimator strings sets experimental"
)
_OLD_OPTIMIZERS: Final = "GradientDescent Adam Momentum RMSProp Adagrad Adadelta Ftrl ProximalAdagrad AdagradDA"

API: Final = Api(
    roots={
        "tensorflow.compat.v2.keras": "keras",
        "tensorflow.compat.v1.keras": "tf1.keras",
        "tensorflow.compat.v1": "tf1",
        "tensorflow.compat.v2": "tf",
        "tensorflow.python.keras": "keras2",
        "tensorflow.keras.backend": "keras.old_backend",
        "tensorflow.keras": "keras",
        "tensorflow.python": "tfinner",
        "tensorflow": "tf",
        "tf_keras": "keras2",
        "keras.src": "kerasinner",
        "keras.api": "keras",
        "keras": "keras",
        "numpy": "np",
        "scipy": "np",
        "sklearn": "np",
    },
    shortened={"tf.keras": "keras", "tf.compat.v1": "tf1", "tf.compat.v2.keras": "keras", "tf.compat.v2": "tf"},
    seen_from={("tensorflow", "keras.backend"): "keras.old_backend"},  # it still has the functions of Keras 2
    mentions=("tensorflow", "keras"),
    functions=_FUNCTIONS | _BY_WHOLE_NAME,
    spaces=(
        *("tf.", "tf1.", "keras.ops.", "keras.backend.", "keras.old_backend.", "keras.random.", "keras.losses."),
        *("keras.activations.", "keras2.backend.", "keras2.losses.", "keras2.activations.", "keras.utils."),
        "keras.metrics.",
    ),
    others=tuple(f"tf.{name}." for name in _NOT_ON_TENSORS.split()),
    roles=_both(_OWN_ROLES),
    families=_both(_OWN_FAMILIES),
    methods={"mean": _D.REDUCE, "sum": _D.SUM},
    escapes=frozenset({"numpy", "tolist", "item", "__array__"}),
    integers=frozenset(_INTEGERS.split()),
    floats=frozenset(_FLOATS.split()),
    weightless=frozenset(_WEIGHTLESS.split()),
    flagged=frozenset(_FLAGGED.split()),
    entropies={
        "binary_crossentropy": False,
        "BinaryCrossentropy": False,
        "categorical_crossentropy": True,
        "CategoricalCrossentropy": True,
        "sparse_categorical_crossentropy": True,
        "SparseCategoricalCrossentropy": True,
    },
    labels_first={
        "softmax_cross_entropy_with_logits": True,
        "sparse_softmax_cross_entropy_with_logits": True,
        "sigmoid_cross_entropy_with_logits": True,
        "weighted_cross_entropy_with_logits": True,
        "binary_crossentropy": True,
        "categorical_crossentropy": True,
        "sparse_categorical_crossentropy": True,
        "BinaryCrossentropy": True,
        "CategoricalCrossentropy": True,
        "SparseCategoricalCrossentropy": True,
        "BinaryFocalCrossentropy": True,
        "CategoricalFocalCrossentropy": True,
        "Poisson": True,
        "poisson": True,
        "hinge": True,
        "Hinge": True,
        "MeanAbsolutePercentageError": True,
        "mean_absolute_percentage_error": True,
        "MeanSquaredLogarithmicError": False,
    },
    today=("keras.", "tf."),
    networks=("keras.",),
    finished=("keras.applications.", "keras2.applications."),
    data=("tf.data.",),
    lifts=frozenset({"tf.init_scope"}),
    activation_layers={"Softmax": _D.SOFTMAX, "ReLU": _D.RELU},
    gone=_gone(),
    gone_methods={
        (Role.OPTIMIZER, "minimize"): Gone("a Keras 3 optimizer has no `minimize`", TAKE_GRADIENTS),
        (Role.OPTIMIZER, "get_gradients"): Gone("a Keras 3 optimizer has no `get_gradients`", TAKE_GRADIENTS),
        (Role.OPTIMIZER, "get_updates"): Gone("a Keras 3 optimizer has no `get_updates`", TAKE_GRADIENTS),
        (Role.OPTIMIZER, "get_weights"): Gone(
            "a Keras 3 optimizer has no `get_weights`", "read `optimizer.variables`, or call `save_own_variables`"
        ),
        (Role.OPTIMIZER, "get_scaled_loss"): Gone(
            "a Keras 3 `LossScaleOptimizer` has no `get_scaled_loss`", "write `scale_loss(loss)`", "scale_loss"
        ),
        (Role.OPTIMIZER, "get_unscaled_gradients"): Gone(
            "a Keras 3 `LossScaleOptimizer` has no `get_unscaled_gradients`", "leave it out: `apply` unscales them"
        ),
        (Role.NETWORK, "add_loss"): Gone(
            "a Keras 3 functional model cannot be given a loss of symbolic tensors",
            "call `self.add_loss` in the `call` of a layer or model of your own",
        ),
        (Role.OPTIMIZER, "_create_slots"): Gone(
            "a Keras 3 optimizer has no `_create_slots`", "override `build`, and call `add_variable`"
        ),
        (Role.METRIC, "reset_states"): Gone(
            "a Keras 3 metric has no `reset_states`", "write `reset_state()`", "reset_state"
        ),
        (Role.NETWORK, "fit_generator"): Gone("a model has no `fit_generator` any more", "write `fit`", "fit"),
        (Role.NETWORK, "evaluate_generator"): Gone("a model has no `evaluate_generator` any more", "write `evaluate`"),
        (Role.NETWORK, "predict_generator"): Gone("a model has no `predict_generator` any more", "write `predict`"),
        (Role.NETWORK, "predict_classes"): Gone(
            "a model has no `predict_classes` any more", "take the `argmax` of `predict(x)`"
        ),
        (Role.NETWORK, "predict_proba"): Gone("a model has no `predict_proba` any more", "write `predict`", "predict"),
    },
    gone_attributes={(Role.OPTIMIZER, "lr"): _RATE},
    gone_arguments={
        ("keras.optimizers", "lr"): _RATE,
        ("keras.layers.BatchNormalization", "fused"): Gone(
            "`BatchNormalization` of Keras 3 does not accept `fused`", "leave it out"
        ),
        ("keras.layers.LSTM", "time_major"): Gone("`LSTM` of Keras 3 does not accept `time_major`", "leave it out"),
        ("keras.layers.GRU", "time_major"): Gone("`GRU` of Keras 3 does not accept `time_major`", "leave it out"),
    },
    activations={
        "relu": _D.RELU,
        "softmax": _D.SOFTMAX,
        "sigmoid": _D.SIGMOID,
        "tanh": _D.SMOOTH,
        "linear": _D.MOVE,
        "softplus": _D.POSITIVE,
    },
)
