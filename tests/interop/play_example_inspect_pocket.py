from __future__ import annotations

import json

from inspect_ai.model import get_model
from inspect_pocket import score
from play_inspect import GIVE_UP, output

model = get_model("mockllm/model", custom_outputs=lambda *asked: output(GIVE_UP))
print(json.dumps({"rewards": score(model, 2)}))
