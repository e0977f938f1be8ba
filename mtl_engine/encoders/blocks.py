"""Transformer parts that compute on packs; they hold the modules of the model they come from."""

from collections.abc import Callable
from typing import Self

from torch import Tensor, nn
from torch.nn import functional

from mtl_engine.encoders.pack import Pack

Activation = Callable[[Tensor], Tensor]


class PackedEmbeddings(nn.Module):
    """Word, position and (where the model has them) type embeddings, normalised."""

    def __init__(
        self,
        words: nn.Embedding,
        positions: nn.Embedding,
        types: nn.Embedding | None,
        norm: nn.LayerNorm,
        *,
        first_position: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.words, self.positions, self.types, self.norm = words, positions, types, norm
        self.first_position = first_position
        self.dropout = nn.Dropout(dropout)

    def forward(self, pack: Pack) -> Tensor:  # (N, h)
        rows = self.words(pack.ids) + self.positions(pack.positions + self.first_position)
        if self.types is not None:
            rows = rows + self.types.weight[0]
        result: Tensor = self.dropout(self.norm(rows))
        return result


class PackedBlock(nn.Module):
    """A transformer layer that normalises after each residual, as BERT and its family do."""

    def __init__(
        self,
        *,
        query: nn.Linear,
        key: nn.Linear,
        value: nn.Linear,
        out: nn.Linear,
        attention_norm: nn.LayerNorm,
        up: nn.Linear,
        down: nn.Linear,
        norm: nn.LayerNorm,
        n_heads: int,
        activation: Activation,
        dropout: float,
        attention_dropout: float,
    ) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = query, key, value, out
        self.attention_norm, self.up, self.down, self.norm = attention_norm, up, down, norm
        self.n_heads = n_heads
        self.activation = activation
        self.dropout = nn.Dropout(dropout)
        self.attention_dropout = nn.Dropout(attention_dropout)

    @classmethod
    def random(cls, width: int, *, n_heads: int, inner: int, dropout: float) -> Self:
        """Return a block with fresh weights."""
        return cls(
            query=nn.Linear(width, width),
            key=nn.Linear(width, width),
            value=nn.Linear(width, width),
            out=nn.Linear(width, width),
            attention_norm=nn.LayerNorm(width, eps=1e-12),
            up=nn.Linear(width, inner),
            down=nn.Linear(inner, width),
            norm=nn.LayerNorm(width, eps=1e-12),
            n_heads=n_heads,
            activation=functional.gelu,
            dropout=dropout,
            attention_dropout=dropout,
        )

    def forward(self, rows: Tensor, pack: Pack) -> Tensor:  # (N, h)
        attended = self.dropout(self.out(self._attend(rows, pack)))
        rows = self.attention_norm(rows + attended)
        changed = self.dropout(self.down(self.activation(self.up(rows))))
        result: Tensor = self.norm(rows + changed)
        return result

    def _attend(self, rows: Tensor, pack: Pack) -> Tensor:
        shape = (pack.n_windows, pack.width, self.n_heads, -1)
        query, key, value = (
            pack.spread(linear(rows)).view(*shape).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        )  # (S, heads, T, d)
        is_dropping = self.attention_dropout.training
        attended = functional.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=pack.mask,
            dropout_p=self.attention_dropout.p if is_dropping else 0.0,
        )
        return pack.gather(attended.transpose(1, 2).flatten(2))
