"""How fast the norms are beside torch's own and beside the formula written out.

    python -m benchmarks.norms

Prints, for each shape and dtype, median microseconds and the ratio helper / torch: below 1 the helper is
faster. The calls take turns, so that a busy machine slows all alike.
"""

import statistics
import time

import torch
import torch.nn.functional as F

from helpers.norms import AdaRMSNorm, layer_norm, rms_norm

SHAPES = [(128, 1, 64), (64, 17, 32), (8, 50, 1024)]
ROUNDS = 60


def formula_rms_norm(x, scale, eps=1e-6):
    wide = x.float()
    normed = wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps)
    return (normed * (1 + scale)).to(x.dtype)


def torch_rms_norm(x, scale, eps=1e-6):
    return F.rms_norm(x, x.shape[-1:], (1 + scale).to(x.dtype), eps)


def torch_layer_norm(x, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


def formula_ada_rms_norm(norm, x, cond):
    """openpi's formula with plain torch operations and no check of any argument."""
    wide = x.float()
    normed = wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + norm.eps)
    scale, shift, gate = norm.modulation(cond)[:, None].chunk(3, dim=-1)
    return (normed * (1 + scale) + shift).to(x.dtype), gate.to(x.dtype)


def median_times(calls):
    """Median microseconds of each call; the calls take turns."""
    times = [[] for _ in calls]
    for turn in range(ROUNDS + 5):
        for call, its_times in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            if turn >= 5:
                its_times.append(time.perf_counter() - start)
    return [1e6 * statistics.median(its_times) for its_times in times]


def backward(call, *inputs):
    def run():
        out = call(*inputs)
        out = out if isinstance(out, torch.Tensor) else out[0] * out[1]
        out.sum().backward()

    return run


def rows():
    """(what, shape, dtype, pass, helper, torch's or the formula's, its name), one comparison each."""
    for shape in SHAPES:
        for dtype in (torch.float32, torch.bfloat16):
            x = torch.randn(shape).to(dtype).requires_grad_()
            scale = torch.zeros(shape[-1], requires_grad=True)
            norm, cond = AdaRMSNorm(shape[-1], shape[-1]), torch.randn(shape[0], shape[-1])
            pairs = [
                ("rms_norm", rms_norm, torch_rms_norm, "F.rms_norm", (x, scale)),
                ("rms_norm", rms_norm, formula_rms_norm, "formula", (x, scale)),
                ("layer_norm", layer_norm, torch_layer_norm, "F.layer_norm", (x,)),
                (
                    "AdaRMSNorm",
                    norm,
                    lambda x, cond, norm=norm: formula_ada_rms_norm(norm, x, cond),
                    "formula",
                    (x, cond),
                ),
            ]
            for what, helper, other, other_name, inputs in pairs:
                with torch.no_grad():
                    forward = median_times(
                        [lambda: helper(*inputs), lambda: other(*inputs)]  # noqa: B023
                    )
                yield what, other_name, shape, dtype, "forward", forward
                both = median_times([backward(helper, *inputs), backward(other, *inputs)])
                yield what, other_name, shape, dtype, "forward and backward", both


def main():
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, median of {ROUNDS}")
    print("| helper | beside | shape | dtype | pass | helper µs | other µs | helper / other |")
    print("|---|---|---|---|---|---|---|---|")
    for what, other, shape, dtype, which, (ours, theirs) in rows():
        kind = str(dtype).removeprefix("torch.")
        cells = [what, other, shape, kind, which, f"{ours:.0f}", f"{theirs:.0f}"]
        print("|", " | ".join(map(str, cells)), "|", f"{ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
