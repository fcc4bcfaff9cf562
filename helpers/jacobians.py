"""Exact derivatives of a layer or a whole stack, and the singular values that say what they do.

The Jacobian of one token is what a small push on that token's hidden state does to the same token at the
other end. Its singular values are the factors by which pushes of different directions grow or shrink.
"""

import warnings

import torch
from torch.func import jacrev, jvp, vmap
from torch.nn.attention import SDPBackend, sdpa_kernel

from helpers.validation import require_callable, require_list, require_shape, require_tensor


def token_jacobian(function, hidden_states, token=0):
    """d function(hidden_states)[token] / d hidden_states[token], exactly: (width, width).

    Args:
        function: of hidden_states to the same shape, such as a block, or a stack as one function. It may
            use torch's fused attention, which `torch.func` cannot differentiate as it stands on a CPU
            (a slow fallback with a warning): it is run in its plain form here.
        hidden_states: (tokens, width) or (1, tokens, width).
        token: which token is pushed and looked at; negative counts from the end.

    Row i holds the derivatives of output entry i. For many depths of one stack use `along_depth`.
    """
    require_callable("function", function)
    hidden_states = _one_sequence(hidden_states, token)

    def output_of(pushed):
        # Not an assignment into a copy: torch.func would refuse it.
        at_token = torch.arange(hidden_states.shape[1], device=hidden_states.device) == (
            token % hidden_states.shape[1]
        )
        moved = torch.where(at_token[None, :, None], pushed, hidden_states)
        result = function(moved)
        require_shape("what function returns", result, moved.shape)
        return result[0, token]

    with sdpa_kernel(SDPBackend.MATH):
        return jacrev(output_of)(hidden_states[0, token])


def along_depth(layers, hidden_states, token=0):
    """The stream and the Jacobian after every layer, in one pass: (streams, jacobians).

    Pushes in all directions of one token are carried forward through the layers together, so the Jacobians
    of all depths cost as much as that of the last. Stops before the first layer whose result is not
    finite in the stack's number format: both results are then shorter.

    Args:
        layers: functions of (1, tokens, width) to the same shape.
        hidden_states: (tokens, width) or (1, tokens, width).
        token: which token is pushed and looked at.

    Returns:
        streams (depth + 1, tokens, width): what goes into the first layer, then after each layer.
        jacobians (depth, width, width): d streams[l + 1][token] / d streams[0][token].
    """
    if not isinstance(layers, torch.nn.ModuleList):
        require_list("layers", layers, require_callable, least=0)
    hidden_states = _one_sequence(hidden_states, token)
    width = hidden_states.shape[-1]
    pushes = hidden_states.new_zeros(width, *hidden_states.shape)
    pushes[:, 0, token] = torch.eye(width, dtype=pushes.dtype, device=pushes.device)
    streams, jacobians = [hidden_states[0]], []
    with sdpa_kernel(SDPBackend.MATH), warnings.catch_warnings():
        # torch compiles some of its own forward derivatives with torch.jit, which it has deprecated.
        warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)
        for layer in layers:
            hidden_states, pushes = _push(layer, hidden_states, pushes)
            if not (hidden_states.isfinite().all() and pushes.isfinite().all()):
                break
            streams.append(hidden_states[0])
            jacobians.append(pushes[:, 0, token].T)
    empty = hidden_states.new_zeros(0, width, width)
    return torch.stack(streams), torch.stack(jacobians) if jacobians else empty


def singular_values(jacobian):
    """Singular values of (..., width, width), largest first: (..., width)."""
    require_tensor("jacobian", jacobian)
    if jacobian.ndim < 2 or jacobian.shape[-2] != jacobian.shape[-1]:
        raise ValueError(f"jacobian must be (..., width, width), got shape {tuple(jacobian.shape)}")
    return torch.linalg.svdvals(jacobian)


def _push(layer, hidden_states, pushes):
    return vmap(lambda push: jvp(layer, (hidden_states,), (push,)), out_dims=(None, 0))(pushes)


def _one_sequence(hidden_states, token):
    require_tensor("hidden_states", hidden_states)
    if hidden_states.ndim == 2:
        hidden_states = hidden_states[None]
    if hidden_states.ndim != 3 or len(hidden_states) != 1:
        raise ValueError(
            "hidden_states must be (tokens, width) or (1, tokens, width), "
            f"got shape {tuple(hidden_states.shape)}"
        )
    tokens = hidden_states.shape[1]
    if isinstance(token, bool) or not isinstance(token, int):
        raise TypeError(f"token must be an integer, got {type(token).__name__}")
    if not -tokens <= token < tokens:
        raise ValueError(f"token must lie between {-tokens} and {tokens - 1}, got {token}")
    return hidden_states
