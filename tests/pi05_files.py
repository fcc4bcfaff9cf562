"""Checkpoints with the names and the layout of the published pi0.5, at any width, for tests."""

import json
import math

import torch

from helpers import pretrained

CODES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}


def ballast(width=1024, depth=18):
    """{name: shape} of what else such a file holds: the rest of the expert, a stand-in of PaliGemma."""
    shapes = {}
    for layer in range(depth):
        expert = f"{pretrained.EXPERT}layers.{layer}."
        for name, rows, columns in (
            ("self_attn.q_proj", 2 * width, width),
            ("self_attn.k_proj", width // 4, width),
            ("self_attn.v_proj", width // 4, width),
            ("self_attn.o_proj", width, 2 * width),
            ("mlp.gate_proj", 4 * width, width),
            ("mlp.up_proj", 4 * width, width),
            ("mlp.down_proj", width, 4 * width),
        ):
            shapes[f"{expert}{name}.weight"] = (rows, columns)
        prefix = f"paligemma_with_expert.paligemma.model.language_model.layers.{layer}."
        shapes[f"{prefix}input_layernorm.weight"] = (2 * width,)
        shapes[f"{prefix}mlp.down_proj.weight"] = (2 * width, 16 * width)
        shapes[f"{prefix}self_attn.q_proj.weight"] = (2 * width, 2 * width)
    shapes["paligemma_with_expert.gemma_expert.lm_head.weight"] = (16 * width, width)
    shapes["action_in_proj.weight"], shapes["action_in_proj.bias"] = (width, 32), (width,)
    shapes["action_out_proj.weight"], shapes["action_out_proj.bias"] = (32, width), (32,)
    return shapes


def write(path, tensors, rest=(), dtype=torch.bfloat16, prefix="model.", metadata=None):
    """A safetensors file in the library's own order; of `rest` ({name: shape}) only the places are written.

    Those are holes, which take no room on most disks. Returns how many bytes `tensors` take.
    """
    rest = dict(rest)
    shapes = {**{name: tuple(tensor.shape) for name, tensor in tensors.items()}, **rest}
    dtypes = {name: tensors[name].dtype if name in tensors else dtype for name in shapes}
    header, end = {"__metadata__": metadata or {"format": "pt"}}, 0
    for name in sorted(shapes, key=lambda name: (-dtypes[name].itemsize, name)):
        start, end = end, end + math.prod(shapes[name]) * dtypes[name].itemsize
        header[prefix + name] = {
            "dtype": CODES[dtypes[name]],
            "shape": list(shapes[name]),
            "data_offsets": [start, end],
        }
    content = json.dumps(header).encode()
    content += b" " * (-len(content) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.write(len(content).to_bytes(8, "little") + content)
        first = file.tell()
        for name, tensor in tensors.items():
            file.seek(first + header[prefix + name]["data_offsets"][0])
            file.write(tensor.contiguous().view(torch.uint8).numpy().data)
        file.truncate(first + end)
    return sum(tensor.nbytes for tensor in tensors.values())


def write_shards(folder, tensors, rest=(), count=3, prefix="model."):
    """The same in `count` files and an index, tensors dealt out in turn."""
    names = sorted([*tensors, *rest])
    weight_map, dealt = {}, [names[k::count] for k in range(count)]
    for k, mine in enumerate(dealt, start=1):
        file = f"model-{k:05}-of-{count:05}.safetensors"
        write(
            folder / file,
            {name: tensors[name] for name in mine if name in tensors},
            {name: rest[name] for name in mine if name not in tensors},
            prefix=prefix,
        )
        weight_map |= {prefix + name: file for name in mine}
    index = {"metadata": {"total_size": 0}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
