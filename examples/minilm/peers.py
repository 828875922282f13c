# SPDX-License-Identifier: BSL-1.0
"""The same encoder in other frameworks. A peer is a function (weights, threads) -> encode; encode takes tokens
[sentence, token] of i64, 0 beyond the end of a sentence, and gives vectors [sentence, 384]."""

import numpy as np

LAYERS, HEADS, FEATURES = 6, 12, 384
EPSILON = 1e-12


def torch_eager(weights, threads):
    import torch
    from torch.nn import functional as f

    torch.set_num_threads(threads)
    w = {name: torch.from_numpy(value) for name, value in weights.items()}
    norm = lambda x, name: f.layer_norm(x, (FEATURES,), w[name + ".weight"], w[name + ".bias"], EPSILON)
    dense = lambda x, name: f.linear(x, w[name + ".weight"], w[name + ".bias"])
    heads = lambda x: x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    def layer(x, kept, name):
        q, k, v = (heads(dense(x, f"{name}.attention.self.{part}")) for part in ("query", "key", "value"))
        context = f.scaled_dot_product_attention(q, k, v, kept).transpose(1, 2).flatten(2)
        x = norm(x + dense(context, name + ".attention.output.dense"), name + ".attention.output.LayerNorm")
        hidden = f.gelu(dense(x, name + ".intermediate.dense"))
        return norm(x + dense(hidden, name + ".output.dense"), name + ".output.LayerNorm")

    @torch.inference_mode()
    def encode(ids):
        ids = torch.from_numpy(ids)
        kept = ids != 0
        mask = None if kept.all() else kept[:, None, None, :]
        x = f.embedding(ids, w["embeddings.word_embeddings.weight"])
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]] + w["embeddings.token_type_embeddings.weight"][0]
        x = norm(x, "embeddings.LayerNorm")
        for k in range(LAYERS):
            x = layer(x, mask, f"encoder.layer.{k}")
        kept = kept[..., None].float()
        return f.normalize((x * kept).sum(1) / kept.sum(1), dim=1).numpy()

    return encode


def onnx_runtime(weights, threads):
    """The graph that ONNX Runtime's own optimizer makes of this model: its fused steps, Q, K and V in one product."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(onnx_graph(weights), options, ["CPUExecutionProvider"])
    return lambda ids: session.run(None, {"ids": ids.astype(np.int32), "kept": (ids != 0).astype(np.int32)})[0]


def onnx_graph(weights):
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    given = lambda name: constant(name, weights[name])
    turned = lambda name: constant(name, weights[name].T)

    def add(kind, inputs, outputs=1, domain="", **attributes):
        names = [f"{kind}_{len(nodes)}_{k}" for k in range(outputs)]
        nodes.append(helper.make_node(kind, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def fused(*arguments, **attributes):
        return add(*arguments, domain="com.microsoft", **attributes)

    norm = lambda name: [given(name + ".weight"), given(name + ".bias")]
    zeros = add("Sub", ["ids", "ids"])
    x, lengths = fused("EmbedLayerNormalization", [
        "ids", zeros, *(given(f"embeddings.{part}_embeddings.weight") for part in ("word", "position", "token_type")),
        *norm("embeddings.LayerNorm"), "kept"], outputs=2, epsilon=EPSILON)
    for k in range(LAYERS):
        name = f"encoder.layer.{k}"
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        qkv = constant(name + ".qkv", np.concatenate([weights[part + ".weight"] for part in parts]).T)
        bias = constant(name + ".qkv_bias", np.concatenate([weights[part + ".bias"] for part in parts]))
        context = fused("Attention", [x, qkv, bias, lengths], num_heads=HEADS)
        projected = add("MatMul", [context, turned(name + ".attention.output.dense.weight")])
        x = fused("SkipLayerNormalization", [projected, x, *norm(name + ".attention.output.LayerNorm"),
                                             given(name + ".attention.output.dense.bias")], epsilon=EPSILON)
        hidden = fused("BiasGelu", [add("MatMul", [x, turned(name + ".intermediate.dense.weight")]),
                                    given(name + ".intermediate.dense.bias")])
        fed = add("MatMul", [hidden, turned(name + ".output.dense.weight")])
        x = fused("SkipLayerNormalization", [fed, x, *norm(name + ".output.LayerNorm"),
                                             given(name + ".output.dense.bias")], epsilon=EPSILON)
    kept = add("Unsqueeze", [add("Cast", ["kept"], to=TensorProto.FLOAT), constant("last", np.array([2]))])
    tokens = constant("tokens", np.array([1]))
    mean = add("Div", [add("ReduceSum", [add("Mul", [x, kept]), tokens], keepdims=0),
                       add("ReduceSum", [kept, tokens], keepdims=0)])
    nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=1))
    graph = helper.make_graph(
        nodes, "minilm", [helper.make_tensor_value_info(n, TensorProto.INT32, ["batch", "seq"]) for n in ("ids", "kept")],
        [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", FEATURES])], constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


PEERS = {"PyTorch": torch_eager, "ONNX Runtime": onnx_runtime}
