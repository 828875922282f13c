# SPDX-License-Identifier: BSL-1.0
"""Peers that are Python packages. A peer is a function case -> (call, result): call() runs once, result(what call
returned) is a float32 array [B, Hq, Sq, Dv]. It raises Refuses where its library cannot express the case.
`note` may be set on the case."""

import numpy as np

import settings
from cases import MODEL_HEADS, Refuses, bf16_bits


def minus_infinity(c, rows=None):
    """The mask as numbers to add: 0 where a query sees a key, else -inf."""
    return np.where(c.visible(rows), np.float32(0), np.float32(-np.inf))


def torch_inputs(c):
    import torch

    torch.set_num_threads(settings.threads)
    torch.set_grad_enabled(False)
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[c.dtype]
    q, k, v = (torch.from_numpy(x).to(kind) for x in (c.q, c.k, c.v))
    return torch, kind, q, k, v


def torch_sdpa(c):
    torch, kind, q, k, v = torch_inputs(c)
    if c.softcap:
        raise Refuses("no softcap")
    mask = None
    if c.bias is not None:
        mask = torch.from_numpy(c.bias).to(kind)
    elif c.mask in ("window", "padding") or (c.mask == "causal" and not c.square_causal):
        # additive: a boolean mask is turned into this one at every call
        mask = torch.from_numpy(minus_infinity(c, np.arange(1) if c.mask == "padding" else None)).to(kind)
    rest = dict(attn_mask=mask, is_causal=c.square_causal, enable_gqa=c.group > 1)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    c.note = {0: "math: unfused", 1: "flash"}.get(int(torch._fused_sdp_choice(q, k, v, mask, 0.0, c.square_causal, enable_gqa=c.group > 1)), "?")
    return lambda: sdpa(q, k, v, **rest), lambda y: y.float().numpy()


def torch_eager(c):
    """Written by hand: two matrix products and a softmax, all scores in memory.  The query heads of a group become
    rows of one product, so that K and V are read once: in decoding this is hard to beat."""
    torch, kind, q, k, v = torch_inputs(c)
    if c.kind != "sdpa":
        return EAGER[c.kind](torch, c, q, k, v), lambda y: y.float().numpy()
    if c.B * c.Hq * c.Sq * c.Skv * c.item > 2**30:
        raise Refuses("scores above 1 GiB")
    if c.group > 1:
        q = q.reshape(c.B, c.Hkv, c.group * c.Sq, c.Dk)
    shape = (c.B, c.Hq, c.Sq, c.Skv)
    add = torch.from_numpy(c.bias).to(kind) if c.bias is not None else None
    if c.mask in ("causal", "window", "padding"):
        add = torch.from_numpy(minus_infinity(c, np.arange(1) if c.mask == "padding" else None)).to(kind)

    def call():
        s = torch.matmul(q, k.transpose(-1, -2)).reshape(shape).mul_(c.scale)
        if c.softcap:
            s = torch.tanh_(s.div_(c.softcap)).mul_(c.softcap)
        if add is not None:
            s = s.add_(add)
        p = torch.softmax(s, -1)
        return torch.matmul(p.reshape(c.B, c.Hkv, c.group * c.Sq, c.Skv), v)

    return call, lambda y: y.float().numpy().reshape(c.B, c.Hq, c.Sq, c.Dv)


def eager_linear(torch, c, q, k, v):
    elu = torch.nn.functional.elu

    def call():
        a, b = elu(q).add_(1), elu(k).add_(1)
        return torch.matmul(a, torch.matmul(b.transpose(-1, -2), v)).div_(torch.matmul(a, b.sum(-2).unsqueeze(-1)))

    return call


def eager_additive(torch, c, q, k, v):
    w = torch.from_numpy(c.w)
    return lambda: torch.matmul(torch.softmax(torch.matmul(torch.tanh_(q.unsqueeze(-2) + k.unsqueeze(-3)), w), -1), v)


def eager_layer(torch, c, q, k, v):
    """Projections as one product, and torch's own fused attention."""
    x, w = q[:, 0], torch.from_numpy(c.w)
    packed, out = torch.cat(list(w[:3]), 1).t().contiguous(), w[3].t().contiguous()
    linear, sdpa = torch.nn.functional.linear, torch.nn.functional.scaled_dot_product_attention

    def call():
        y = linear(x, packed).reshape(c.B, c.Sq, 3, MODEL_HEADS, -1).permute(2, 0, 3, 1, 4)
        return linear(sdpa(y[0], y[1], y[2]).transpose(1, 2).reshape(c.B, c.Sq, c.Dk), out).unsqueeze(1)

    return call


EAGER = {"linear": eager_linear, "additive": eager_additive, "layer": eager_layer}


def torch_flex(c):
    torch, kind, q, k, v = torch_inputs(c)
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    torch._dynamo.reset()
    score_mod = mask_mod = None
    shift, window = c.Skv - c.Sq, c.window
    if c.mask == "causal":
        mask_mod = lambda b, h, i, j: j <= i + shift
    elif c.mask == "window":
        mask_mod = lambda b, h, i, j: (j <= i + shift) & (j > i + shift - window)
    elif c.mask == "padding":
        lengths = torch.tensor(c.lengths, dtype=torch.int64)
        mask_mod = lambda b, h, i, j: j < lengths[b]
    if c.softcap:
        cap = c.softcap
        score_mod = lambda s, b, h, i, j: cap * torch.tanh(s / cap)
    elif c.bias is not None:
        bias = torch.from_numpy(c.bias)
        score_mod = lambda s, b, h, i, j: s + bias[0, h, i, j]
    blocks = create_block_mask(mask_mod, c.B if c.mask == "padding" else None, None, c.Sq, c.Skv, device="cpu") if mask_mod else None
    flex = torch.compile(flex_attention, dynamic=False, fullgraph=True)
    call = lambda: flex(q, k, v, score_mod=score_mod, block_mask=blocks, enable_gqa=c.group > 1)
    call()  # compiles
    return call, lambda y: y.float().numpy()


def onnx_call(op, domain, inputs, outputs, attributes, opset=24, share={}):
    """A one-node model.  inputs: name -> array or None; outputs: name -> array to write into."""
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper

    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.bool_): TensorProto.BOOL,
             np.dtype(np.int32): TensorProto.INT32, np.dtype(np.int64): TensorProto.INT64}
    describe = lambda name, x: helper.make_tensor_value_info(name, kinds[x.dtype], x.shape)
    node = helper.make_node(op, [n if x is not None else "" for n, x in inputs.items()], list(outputs), domain=domain, **attributes)
    while node.input and node.input[-1] == "":
        node.input.pop()
    given = {n: x for n, x in inputs.items() if x is not None}
    graph = helper.make_graph([node], "attention", [describe(n, x) for n, x in given.items()], [describe(n, x) for n, x in outputs.items()])
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = settings.threads, 1, 3
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    values = {n: ort.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(x)) for n, x in given.items()}
    for n in given:
        binding.bind_ortvalue_input(n, values[n])
    for n, x in outputs.items():  # `share` names an input whose memory an output reuses: a cache appended in place
        values[n] = values[share[n]] if n in share else ort.OrtValue.ortvalue_from_numpy(np.zeros(x.shape, x.dtype))
        binding.bind_ortvalue_output(n, values[n])
    first = next(iter(outputs))
    return lambda: session.run_with_iobinding(binding), lambda _: values[first].numpy().copy()


def like(*shape, dtype=np.float32):
    """Shape and type of an array that takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def rows_of(x):
    """[B, H, S, D] -> [B, S, H * D]"""
    b, h, s, d = x.shape
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(b, s, h * d)


def unrow(y, c):
    return y.reshape(c.B, c.Sq, c.Hq, c.Dv).transpose(0, 2, 1, 3)


def only_fp32(c, what):
    if c.dtype != "fp32":
        raise Refuses(f"{what}: no {c.dtype} on CPU")


def ort_attention(c):
    only_fp32(c, "Attention")
    mask = c.bias
    if c.mask == "window" or (c.mask == "causal" and not c.square_causal):
        mask = minus_infinity(c)
    lengths = np.array(c.lengths, np.int64) if c.lengths else None
    inputs = {"q": c.q, "k": c.k, "v": c.v, "mask": mask, "pk": None, "pv": None, "nonpad_kv_seqlen": lengths}
    return onnx_call("Attention", "", inputs, {"y": like(c.B, c.Hq, c.Sq, c.Dv)},
                     dict(is_causal=int(c.square_causal), softcap=c.softcap, scale=c.scale))


def ort_mha(c):
    only_fp32(c, "MultiHeadAttention")
    if c.group > 1:
        raise Refuses("no grouped heads")
    if c.softcap or c.mask == "window":
        raise Refuses("no softcap" if c.softcap else "no window")
    if c.mask == "causal" and not c.square_causal:
        raise Refuses("causal is top-left")
    lengths = np.array(c.lengths, np.int32) if c.lengths else None
    inputs = {"q": rows_of(c.q), "k": rows_of(c.k), "v": rows_of(c.v), "b": None, "key_padding_mask": lengths, "bias": c.bias}
    call, result = onnx_call("MultiHeadAttention", "com.microsoft", inputs, {"y": like(c.B, c.Sq, c.Hq * c.Dv)},
                             dict(num_heads=c.Hq, unidirectional=int(c.square_causal), scale=c.scale), opset=17)
    return call, lambda y: unrow(result(y), c)


def ort_gqa(c):
    """Its cache is appended in place: the last Sq keys are new, the others are in the cache already."""
    only_fp32(c, "GroupQueryAttention")
    if c.mask not in ("causal", "window") and not (c.Sq == 1 and c.mask == "none"):
        raise Refuses("always causal")
    if c.Dk != c.Dv:
        raise Refuses("Dk != Dv")
    new = slice(c.Skv - c.Sq, None)
    cache = like(c.B, c.Hkv, c.Skv, c.Dk)
    inputs = {"q": rows_of(c.q), "k": rows_of(c.k[:, :, new]), "v": rows_of(c.v[:, :, new]), "past_key": c.k, "past_value": c.v,
              "seqlens_k": np.full(c.B, c.Skv - 1, np.int32), "total": np.array([c.Skv], np.int32)}
    outputs = {"y": like(c.B, c.Sq, c.Hq * c.Dv), "present_key": cache, "present_value": cache}
    attributes = dict(num_heads=c.Hq, kv_num_heads=c.Hkv, scale=c.scale, softcap=c.softcap)
    if c.window:
        attributes["local_window_size"] = c.window
    call, result = onnx_call("GroupQueryAttention", "com.microsoft", inputs, outputs, attributes, opset=17,
                             share={"present_key": "past_key", "present_value": "past_value"})
    return call, lambda y: unrow(result(y), c)


def openvino(c):
    import openvino as ov
    from openvino import opset13 as op

    if c.softcap:
        raise Refuses("no softcap")
    kind = {"fp32": ov.Type.f32, "bf16": ov.Type.bf16, "fp16": ov.Type.f16}[c.dtype]
    arrays = [c.q, c.k, c.v]
    params = [op.parameter(list(x.shape), kind) for x in arrays]
    q, k, v = params
    if c.group > 1:  # the pattern its own exporters write for grouped heads

        def repeat(x, d):
            wide = op.broadcast(op.unsqueeze(x, op.constant(2)), op.constant([c.B, c.Hkv, c.group, c.Skv, d]))
            return op.reshape(wide, op.constant([c.B, c.Hq, c.Skv, d]), False)

        k, v = repeat(k, c.Dk), repeat(v, c.Dv)
    mask = None
    if c.bias is not None:
        arrays, params = arrays + [c.bias], params + [op.parameter(list(c.bias.shape), kind)]
        mask = params[-1]
    elif c.mask in ("window", "padding") or (c.mask == "causal" and not c.square_causal):
        seen = np.array(c.visible(), order="C")
        arrays, params = arrays + [seen], params + [op.parameter(list(seen.shape), ov.Type.boolean)]
        mask = params[-1]
    node = op.scaled_dot_product_attention(q, k, v, mask, causal=c.square_causal)
    compiled = ov.Core().compile_model(ov.Model([op.result(node)], params), "CPU", {
        "PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": settings.threads, "INFERENCE_PRECISION_HINT": "bf16" if c.dtype == "bf16" else "f32"})
    request = compiled.create_infer_request()
    keep = []
    for index, x in enumerate(arrays):
        if c.dtype == "bf16" and x.dtype == np.float32:
            keep.append(bf16_bits(x))
            tensor = ov.Tensor(keep[-1], ov.Shape(x.shape), ov.Type.bf16)
        elif c.dtype == "fp16" and x.dtype == np.float32:
            keep.append(x.astype(np.float16))
            tensor = ov.Tensor(keep[-1], shared_memory=True)
        else:
            keep.append(x)
            tensor = ov.Tensor(x, shared_memory=True)
        request.set_input_tensor(index, tensor)

    def result(_):
        y = request.get_output_tensor(0)
        if c.dtype == "bf16" and y.element_type == ov.Type.bf16:
            return (np.frombuffer(y.data.tobytes(), np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(c.B, c.Hq, c.Sq, c.Dv)
        return np.array(y.data, np.float32)

    return lambda inputs=keep: request.infer(), result  # it reads these arrays in place, so they must live on


def jax_nn(c):
    import jax
    import jax.numpy as jnp

    if c.softcap:
        raise Refuses("no softcap")
    if c.Dk != c.Dv:
        raise Refuses("Dk != Dv")
    kind = {"fp32": jnp.float32, "bf16": jnp.bfloat16, "fp16": jnp.float16}[c.dtype]
    q, k, v = (jnp.asarray(np.ascontiguousarray(x.transpose(0, 2, 1, 3)), kind) for x in (c.q, c.k, c.v))
    rest, flags = {}, {}
    if c.bias is not None:
        rest["bias"] = jnp.asarray(c.bias, kind)
    elif c.mask == "padding":
        rest["key_value_seq_lengths"] = jnp.asarray(c.lengths, jnp.int32)
    elif c.mask in ("causal", "window") and c.Sq == c.Skv:
        flags = dict(is_causal=True, local_window_size=(c.window - 1, 0) if c.window else None)
    elif c.mask != "none":
        rest["mask"] = jnp.asarray(c.visible())
    fn = jax.jit(lambda q, k, v, rest: jax.nn.dot_product_attention(q, k, v, **rest, **flags)).lower(q, k, v, rest).compile()
    return lambda: fn(q, k, v, rest).block_until_ready(), lambda y: np.asarray(y, np.float32).transpose(0, 2, 1, 3)


def attention_alone(prepare):
    def guarded(c):
        if c.kind != "sdpa":
            raise Refuses(f"no {c.kind}")
        return prepare(c)

    return guarded


PEERS = {"torch-eager": torch_eager} | {name: attention_alone(prepare) for name, prepare in {
    "torch-sdpa": torch_sdpa, "torch-flex": torch_flex, "ort-attention": ort_attention, "ort-mha": ort_mha, "ort-gqa": ort_gqa,
    "openvino": openvino, "jax": jax_nn}.items()}
NEEDS = {"torch-sdpa": ["torch"], "torch-flex": ["torch"], "torch-eager": ["torch"], "ort-attention": ["onnxruntime", "onnx"],
         "ort-mha": ["onnxruntime", "onnx"], "ort-gqa": ["onnxruntime", "onnx"], "openvino": ["openvino"], "jax": ["jax"]}
