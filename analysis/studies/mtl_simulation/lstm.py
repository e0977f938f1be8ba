"""A Bi-LSTM that stops at the centre of a window, for many models at once.

Only the centre's state is used: one direction reads the left half of the window and the centre,
the other the right half and the centre. What ``nn.LSTM`` computes beyond is never needed. The
gradient is written by hand: autograd spends most of its time on slices of gates.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


def centre_states(projected: Tensor, recurrent: Tensor) -> Tensor:
    """Return (d, b, h) last states of d LSTMs.

    ``projected`` (d, steps, b, 4h) is input times weights plus biases, ``recurrent`` (d, h, 4h);
    the gates' order is input, forget, output, cell.
    """
    states: Tensor = _LastState.apply(projected, recurrent)  # type: ignore[no-untyped-call]
    return states


class _LastState(Function):
    @staticmethod
    def forward(ctx: Any, projected: Tensor, recurrent: Tensor) -> Tensor:
        d, n_steps, b, wide = projected.shape
        h = wide // 4
        inputs = projected.unbind(1)
        gates = projected.new_empty(n_steps, d, b, wide)
        sigmoids, tanhs = gates[..., : 3 * h].unbind(0), gates[..., 3 * h :].unbind(0)
        enter, forget, leave, new = _parts(gates)
        states, cells, squashed = (projected.new_empty(n_steps, d, b, h) for _ in range(3))
        state, cell, squash = states.unbind(0), cells.unbind(0), squashed.unbind(0)
        for t in range(n_steps):
            now = torch.baddbmm(inputs[t], state[t - 1], recurrent) if t else inputs[t]
            torch.sigmoid(now[..., : 3 * h], out=sigmoids[t])
            torch.tanh(now[..., 3 * h :], out=tanhs[t])
            torch.mul(enter[t], new[t], out=cell[t])
            if t:
                cell[t].addcmul_(forget[t], cell[t - 1])
            torch.tanh(cell[t], out=squash[t])
            torch.mul(leave[t], squash[t], out=state[t])
        ctx.save_for_backward(gates, states, cells, squashed, recurrent)
        return state[-1].clone()

    @staticmethod
    def backward(ctx: Any, d_state: Tensor) -> tuple[Tensor, Tensor]:
        gates, states, cells, squashed, recurrent = ctx.saved_tensors
        n_steps, d, b, wide = gates.shape
        h = wide // 4
        enter, forget, _, new = _parts(gates)
        slopes = torch.addcmul(gates, gates, gates, value=-1)  # g (1 - g), of the three sigmoids
        slopes[..., 3 * h :] = 1 - gates[..., 3 * h :] ** 2
        slope = slopes.unbind(0)
        to_cell = (gates[..., 2 * h : 3 * h] * (1 - squashed**2)).unbind(0)
        d_gates = gates.new_empty(d, n_steps, b, wide)
        d_gate = d_gates.unbind(1)
        to_enter, to_forget, to_leave, to_new = _parts(d_gates.transpose(0, 1))
        backwards = recurrent.transpose(1, 2)
        d_cell = torch.zeros_like(d_state)
        for t in reversed(range(n_steps)):
            d_cell = torch.addcmul(d_cell, d_state, to_cell[t])
            torch.mul(d_cell, new[t], out=to_enter[t])
            torch.mul(d_state, squashed[t], out=to_leave[t])
            torch.mul(d_cell, enter[t], out=to_new[t])
            if t:
                torch.mul(d_cell, cells[t - 1], out=to_forget[t])
            else:
                to_forget[t].zero_()  # there was no cell before
            d_gate[t].mul_(slope[t])
            if t:
                d_state = torch.bmm(d_gate[t], backwards)
                d_cell = d_cell * forget[t]
        before = states[:-1].transpose(0, 1).reshape(d, -1, h).transpose(1, 2)
        return d_gates, torch.bmm(before, d_gates[:, 1:].reshape(d, -1, wide))


def _parts(gates: Tensor) -> list[tuple[Tensor, ...]]:
    """Return the four gates of (steps, ...), each as one view for every step."""
    return [part.unbind(0) for part in gates.chunk(4, dim=-1)]
