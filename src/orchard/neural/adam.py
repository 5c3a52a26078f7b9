"""Adam, bit for bit that of `torch.optim`, which loads PyTorch's compiler first: two seconds of every training."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.optim.adam import adam


class Adam:
    """Has the methods of `torch.optim.Adam(weights, lr=learning_rate, fused=True)` that a training needs."""

    def __init__(self, weights: Iterable[Tensor], learning_rate: float):
        self.weights, self.learning_rate = list(weights), learning_rate
        self.means = [torch.zeros_like(one) for one in self.weights]
        self.squares = [torch.zeros_like(one) for one in self.weights]
        self.steps = [torch.zeros((), dtype=torch.float32, device=one.device) for one in self.weights]

    def zero_grad(self) -> None:
        for one in self.weights:
            one.grad = None

    @torch.no_grad()
    def step(self) -> None:
        adam(
            self.weights,
            [one.grad for one in self.weights],
            self.means,
            self.squares,
            max_exp_avg_sqs=[],
            state_steps=self.steps,
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    def state_dict(self) -> dict[str, list[Tensor]]:
        return {"means": self.means, "squares": self.squares, "steps": self.steps}

    def load_state_dict(self, state: dict[str, list[Tensor]]) -> None:
        for name, ours in self.state_dict().items():
            for one, stored in zip(ours, state[name], strict=True):
                one.copy_(stored)
