"""DeBERTa's parts, which insist on a padded rectangle and relative positions, behind packs."""

from typing import Any, Self

from torch import Tensor, nn

from mtl_engine.encoders.pack import Pack, read_places


class Borrowed:
    """A module that others own: copying the borrower keeps the same module."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class PaddedEmbeddings(nn.Module):
    """DeBERTa's embeddings, which also own the relative positions that all layers read."""

    def __init__(self, embeddings: nn.Module, encoder: nn.Module) -> None:
        super().__init__()
        self.embeddings = embeddings
        self.relative = nn.ModuleDict(
            {
                name: module
                for name, module in encoder.named_children()
                if name in ("rel_embeddings", "LayerNorm")
            }
        )

    def forward(self, pack: Pack) -> Tensor:  # (N, h)
        is_read = read_places(pack)
        ids = pack.spread(pack.ids) * is_read
        return pack.gather(self.embeddings(input_ids=ids, mask=is_read))


class PaddedBlock(nn.Module):
    """One of DeBERTa's layers; the first may be followed by the model's convolution."""

    def __init__(self, layer: nn.Module, encoder: nn.Module, conv: nn.Module | None) -> None:
        super().__init__()
        self.layer = layer
        self.conv = conv
        self._encoder = Borrowed(encoder)

    def forward(self, rows: Tensor, pack: Pack) -> Tensor:  # (N, h)
        encoder = self._encoder.module
        is_read = read_places(pack)
        grid = pack.spread(rows) * is_read[:, :, None]  # the convolution sees padding as zeros
        output, _ = self.layer(
            grid,
            encoder.get_attention_mask(is_read),
            relative_pos=encoder.get_rel_pos(grid),
            rel_embeddings=encoder.get_rel_embedding(),
        )
        if self.conv is not None:
            output = self.conv(grid, output, is_read)
        return pack.gather(output)
