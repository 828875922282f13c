#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Exports the ONNX node tests about attention: what cases.txt and cases/ are made from.

    pip install onnx==1.22.0        # later releases no longer carry the data
    python onnx_cases.py            # writes cases.txt and cases/<case>/<tensor>.npy beside this file

Every case is named in cases.txt with the kernel of onnx_*_specs.hpp that computes it, its scalars and its tensors.
Each is also run through onnx's reference evaluator, as a check of the data.
"""
import pathlib
import re
import shutil
import sys

import numpy as np
import onnx
import onnx.reference
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent
FAMILIES = ("attention", "rotary_embedding", "flexattention", "linear_attention", "softmax")


def folders():
    """The folders of these families; the `_expanded` twins hold the same data."""
    root = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    prefixes = tuple(f"test_{family}" for family in FAMILIES)
    return [f for f in sorted(root.iterdir()) if f.name.startswith(prefixes) and "_expanded" not in f.name]


def tensor(path):
    proto = onnx.TensorProto()
    proto.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(proto)


def packed_heads(a, heads):
    """[batch, n, heads * d] seen as [batch, heads, n, d], without moving anything."""
    return a.reshape(*a.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def in_groups(a, key_heads):
    """[batch, query heads, n, d] seen as [batch, key heads, group, n, d]."""
    return a.reshape(a.shape[0], key_heads, -1, *a.shape[2:])


class Case:
    def __init__(self, folder):
        self.name = folder.name.removeprefix("test_")
        self.model = onnx.load(folder / "model.onnx")
        (self.node,) = self.model.graph.node
        data = folder / "test_data_set_0"
        self.fed = {v.name: tensor(data / f"input_{k}.pb") for k, v in enumerate(self.model.graph.input)}
        self.wanted = {v.name: tensor(data / f"output_{k}.pb") for k, v in enumerate(self.model.graph.output)}
        self.attributes = {a.name: helper.get_attribute_value(a) for a in self.node.attribute}

    def storage(self):
        """The end of the name of a kernel for another element type than float."""
        return {"float16": "_f16", "float64": "_f64"}.get(next(iter(self.fed.values())).dtype.name, "")

    def grouped(self):
        if self.fed["Q"].ndim == 3:
            return self.attributes["q_num_heads"] != self.attributes["kv_num_heads"]
        return self.fed["Q"].shape[1] != self.fed["K"].shape[1]

    def kernel(self):
        """The kernel of onnx_specs.hpp, and its scalars."""
        if self.node.op_type == "Softmax":
            rank = self.fed["x"].ndim
            axis = self.attributes.get("axis", -1) % rank + 3 - rank
            return ("softmax_planes", "softmax_rows", "softmax_columns")[axis], {}
        if self.node.op_type == "LinearAttention":
            rule = self.attributes.get("update_rule", b"gated_delta").decode()
            d_k = self.fed["query"].shape[-1] // self.attributes["q_num_heads"]
            kind = "linear" if rule == "linear" else f"linear_{rule}"
            if "past_state" in self.fed:
                kind += "_past"
            elif self.per_head("decay"):
                kind += "_heads"
            elif "beta" in self.fed and self.fed["beta"].shape[2] < self.attributes["kv_num_heads"]:
                kind += "_steps"
            return kind, {"scale": self.attributes.get("scale") or d_k**-0.5}
        if self.node.op_type == "RotaryEmbedding":
            kind = "rotary" if "position_ids" in self.fed else "rotary_by_token"
            return kind + ("_interleaved" if self.attributes.get("interleaved") else ""), {}
        scalars = {}
        if "scale" in self.attributes:
            scalars["scale"] = self.attributes["scale"]
        if self.attributes.get("softcap"):
            scalars["cap"] = self.attributes["softcap"]
        for end, kernel in {"causal_mask": "flex_causal", "score_mod": "flex_score", "prob_mod": "flex_weights",
                            "relative_positional": "flex_relative"}.items():
            if self.name == f"flexattention_{end}":
                return kernel, {}
        if self.name == "flexattention_soft_cap":
            return "softcap", {"cap": 20.0}
        mask = self.fed.get("attn_mask")
        if "nonpad_kv_seqlen" in self.fed:
            return "padded", scalars
        mode = ("raw", "capped", "biased", "softmax")[self.attributes.get("qk_matmul_output_mode", 0)]
        if "qk_matmul_output" not in self.wanted:
            mode = None
        if "past_key" in self.fed:
            kind = f"past_{mode}" if mode else "with_past"
            return kind + ("_causal" if self.attributes.get("is_causal") else ""), scalars
        if mode:
            return f"scores_{mode}", scalars
        if mask is None:
            kind = "scaled" if "scale" in scalars else "softcap" if "cap" in scalars else "plain"
            kind = "causal" if self.attributes.get("is_causal") else kind
        elif mask.dtype == bool:
            kind = f"keep_{mask.ndim}d"
        elif "cap" in scalars:
            kind = "softcap_mask"
        else:
            kind = "mask_3d" if mask.ndim == 4 and mask.shape[1] == 1 else f"mask_{mask.ndim}d"
            kind += "_causal" if self.attributes.get("is_causal") else ""
        if self.grouped():
            kind = {"plain": "grouped", "mask_2d": "grouped_mask"}.get(kind, f"grouped_{kind}")
        return kind, scalars

    def tensors(self):
        """name -> array, in the shapes of the spec; views of the memory of ONNX, some of its axes with stride 0."""
        rename = {"attn_mask": "mask", "qk_matmul_output": "scores", "x": "X", "y": "Y", "input": "X", "output": "Y",
                  "cos_cache": "cos", "sin_cache": "sin", "position_ids": "position", "nonpad_kv_seqlen": "nonpad"}
        arrays = {rename.get(k, k): v for k, v in (self.fed | self.wanted).items()}
        arrays = {k: v.astype(np.int32) if v.dtype == np.int64 else v for k, v in arrays.items()}
        if self.node.op_type == "Softmax":
            return {k: v.reshape((1,) * (3 - v.ndim) + v.shape) for k, v in arrays.items()}
        if self.node.op_type == "RotaryEmbedding":
            return {k: packed_heads(v, self.attributes["num_heads"]) if k in "XY" and v.ndim == 3 else v
                    for k, v in arrays.items()}
        if self.node.op_type == "LinearAttention":
            return self.linear_tensors()
        heads = {"Q": self.attributes.get("q_num_heads"), "K": self.attributes.get("kv_num_heads")}
        heads |= {"V": heads["K"], "Y": heads["Q"]}
        key_heads = heads["K"] or arrays["K"].shape[1]
        past = "past_key" in arrays  # these kernels have an axis of groups always, and masks with all axes
        for name in ("Q", "K", "V", "Y"):
            a = arrays[name]
            arrays[name] = packed_heads(a, heads[name]) if a.ndim == 3 else a
        for name in {"Q", "Y", "scores"} & arrays.keys() if self.grouped() or past else ():
            arrays[name] = in_groups(arrays[name], key_heads)
        if past:
            mask, (*_, n, m) = arrays["mask"], arrays["mask"].shape
            if mask.ndim == 4:
                mask = in_groups(mask, key_heads) if mask.shape[1] > 1 else mask[:, :, None]
            arrays["mask"] = np.broadcast_to(mask, (*arrays["Q"].shape[:3], n, m))
        elif "mask" in arrays and arrays["mask"].ndim == 4 and arrays["mask"].shape[1] == 1:
            arrays["mask"] = arrays["mask"][:, 0]
        return arrays

    def linear_tensors(self):
        queries, keys = self.attributes["q_num_heads"], self.attributes["kv_num_heads"]
        arrays = {k: v for k, v in (self.fed | self.wanted).items() if k.endswith("_state")}
        for name, a in (("Q", self.fed["query"]), ("Y", self.wanted["output"])):
            arrays[name] = in_groups(packed_heads(a, queries), keys)
        for name in ("key", "value", "decay"):
            if name in self.fed:
                arrays[{"key": "K", "value": "V"}.get(name, name)] = packed_heads(self.fed[name], keys)
        if self.per_head("decay"):
            arrays["decay"] = self.fed["decay"]
        if "beta" in self.fed:
            beta = self.fed["beta"]
            arrays["beta"] = beta if beta.shape[2] == keys else beta[:, :, 0]
        return arrays

    def per_head(self, name):
        return name in self.fed and self.fed[name].shape[2] == self.attributes["kv_num_heads"]

    def agrees(self):
        results = onnx.reference.ReferenceEvaluator(self.model).run(None, self.fed)
        return all(np.allclose(got, want, rtol=1e-3, atol=1e-7, equal_nan=True)
                   for got, want in zip(results, self.wanted.values(), strict=True))


def export(case):
    """Writes the data; returns the line of cases.txt. Files hold the memory as ONNX lays it out, plain C order;
    an axis order beside a name says which file axis each axis of the spec is, or - where it has none."""
    kernel, scalars = case.kernel()
    words = [kernel + case.storage()] + [f"{k}={v:.9g}" for k, v in scalars.items()]
    out = HERE / "cases" / case.name
    out.mkdir(parents=True)
    for name, array in case.tensors().items():
        repeated = [axis for axis in range(array.ndim) if array.strides[axis] == 0]
        order = sorted(set(range(array.ndim)) - set(repeated), key=lambda axis: -array.strides[axis])
        memory = array.transpose(repeated + order)[(0,) * len(repeated)]
        if not repeated and memory.size and not memory.flags.c_contiguous:
            order, memory = list(range(array.ndim)), array
        np.save(out / f"{name}.npy", np.ascontiguousarray(memory))
        places = ["-" if axis in repeated else str(order.index(axis)) for axis in range(array.ndim)]
        words.append(name if places == sorted(places) and not repeated else f"{name}:{''.join(places)}")
    return " ".join(words)


def main():
    cases = [Case(f) for f in folders()]
    if not cases:
        sys.exit(f"onnx {onnx.__version__} holds no such node tests; install onnx==1.22.0")
    shutil.rmtree(HERE / "cases", ignore_errors=True)
    lines = [re.sub(r"^# *", "# ", line) for line in (
        "# Every ONNX node test about attention: the kernel of onnx_specs.hpp that computes it, its scalars and its",
        "# tensors (with the order of the file's axes where it differs). Written by onnx_cases.py.")]
    for case in cases:
        if not case.agrees():
            sys.exit(f"{case.name}: onnx's own evaluator disagrees with the data")
        lines.append(f"{case.name:55} {export(case)}")
    (HERE / "cases.txt").write_text("\n".join(lines) + "\n")
    print(f"{len(cases)} cases exported")


main()
