"""What all sections of a configuration have in common. A room declares its own options with it; `config` has all."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Unknown options are refused, values are not converted, and nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
