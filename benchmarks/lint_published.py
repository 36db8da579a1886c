"""Lint over large bodies of published TensorFlow code, and a random sample of what it says, to be judged by hand.

python benchmarks/lint_published.py FOLDER [--sample 60] [--others 40] [--seed 0] [--no-download]

The packages are fetched by name into FOLDER and unpacked beside; nothing of them is installed. Most of what old code
breaks is one rule, names that are gone: so there is a second sample, of all other rules.
"""

from __future__ import annotations

import argparse
import json
import linecache
import random
import subprocess
import sys
import tarfile
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

PACKAGES = """
keras tf_keras tensorflow-probability keras-hub keras-cv tf-agents tf-models-official tensorflow-addons keras-tuner
tensorflow-gan tensor2tensor dm-sonnet trfl spektral larq gpflow deepctr deepxde tensorflow-recommenders
tensorflow-ranking tensorflow-privacy tf-explain autokeras kgcnn alibi-detect cleverhans
adversarial-robustness-toolbox tensorforce trieste tensorflow-federated tensorflow-model-optimization
tensorflow-graphics tensorflow-compression sciann keras-retinanet segmentation-models deepchem nengo-dl garage
innvestigate tensorflow-similarity gpflux deepreg csbdeep stardist ddsp spleeter dm-acme edward2 tensorflow-gnn
tensorflow-cpu alibi keras-rl2 bayesflow dopamine-rl huskarl keras-ocr keras-tcn keras-unet-collection keras-vis
magenta n2v nbeats-keras neural-structured-learning omnixai recommenders saliency scikeras
tensorflow-constrained-optimization tensorflow-lattice tensorlayer tf-keras-vis tf-quant-finance tf-slim tf2-yolov4
vit-keras xplique ydata-synthetic zfit foolbox shap malib mlprimitives gretel-synthetics basic-pitch efficientnet
transformers<5 OpenNMT-tf tensorpack bert-for-tf2 kashgari TensorFlowTTS TensorFlowASR nobrainer sleap deeplabcut
ampligraph deepmatch sionna umap-learn ivis nangs elephas tensorcircuit coax rlzoo tensortrade imagededup
tf-levenberg-marquardt tfkan tensorflow-datasets LibRecommender keras-unet keras-efficientnet-v2
keras-cv-attention-models tf-seq2seq-losses lingvo t5 mesh-tensorflow pinnx pyvae keras-adversarial
tape-proteins tensorflow-model-analysis tfx-bsl mlagents ray tf2onnx
"""


COMMON = "keras3-api-change"


def download(folder: Path) -> None:
    """Each package once; one that cannot be had is passed over."""
    kept, source = folder / "kept", folder / "src"
    kept.mkdir(parents=True, exist_ok=True)
    for name in PACKAGES.split():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(kept), name]
        done = subprocess.run(command, check=False, capture_output=True, timeout=600)
        print(f"{'fetched' if done.returncode == 0 else 'not to be had:'} {name}", file=sys.stderr)
    for file in sorted(kept.iterdir()):
        home = source / file.name
        if home.exists():
            continue
        if file.suffix in (".whl", ".zip"):
            with zipfile.ZipFile(file) as wheel:
                wheel.extractall(home)
        else:
            with tarfile.open(file) as sdist:
                sdist.extractall(home, filter="data")


def lint(folder: Path) -> list[dict[str, Any]]:
    out = folder / "found.json"
    start = time.perf_counter()
    command = [sys.executable, "-m", "whygrad", "lint", "--no-cache", "--no-gitignore", "--no-config", "--exit-zero"]
    command += ["--output-format", "json", "--output-file", str(out), str(folder / "src")]
    subprocess.run(command, check=True)
    report = json.loads(out.read_text())
    print(f"{report['run']['files']} files in {time.perf_counter() - start:.0f} s")
    return [each for each in report["diagnostics"] if each["severity"] != "note"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--others", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-download", action="store_true")
    options = parser.parse_args()
    if not options.no_download:
        download(options.folder)
    found = lint(options.folder)
    for (rule, severity), count in Counter((each["rule"], each["severity"]) for each in found).most_common():
        print(f"{count:5}  {rule} ({severity})")
    common = [each for each in found if each["rule"] == COMMON]
    others = [each for each in found if each["rule"] != COMMON]
    print(f"\n{len(found)} findings, {len(common)} of them {COMMON}")
    show(f"{options.sample} of all", found, options.sample, options)
    show(f"{options.others} of the other rules", others, options.others, options)


def show(title: str, found: list[dict[str, Any]], count: int, options: argparse.Namespace) -> None:
    """A random sample, in the order of rules and files."""
    print(f"\n== {title}")
    sample = random.Random(options.seed).sample(found, min(count, len(found)))
    for number, each in enumerate(sorted(sample, key=lambda one: (one["rule"], one["location"]["file"])), 1):
        place = each["location"]
        name = place["file"].removeprefix(f"{(options.folder / 'src').resolve()}/")
        print(f"\n{number}. {each['severity']}[{each['code']}] {each['rule']}: {each['message']}")
        print(f"   {name}:{place['line']}: {linecache.getline(place['file'], place['line']).strip()}")


if __name__ == "__main__":
    main()
