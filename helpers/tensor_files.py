"""Some tensors out of a large safetensors file, on disk or on the Hugging Face hub, without the rest.

A safetensors file is 8 bytes (the header's length), a header in JSON (for each tensor its dtype, shape and
place) and the numbers. So one reads the header, and then only the wanted places. A header is input from a
stranger: nothing in it is believed before it was checked. Format: huggingface/safetensors, README.md.
"""

import json
import math
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import torch

DTYPES = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}
LARGEST_HEADER = 100_000_000  # bytes, the limit of the safetensors library too
INDEX_SUFFIX = ".index.json"


class Place(NamedTuple):
    """Where one tensor lies: from byte `start` to before byte `end` of `file`."""

    file: str
    dtype: str
    shape: tuple
    start: int
    end: int


class LocalFolder:
    """Files in a folder of this machine."""

    def __init__(self, path):
        self.path = Path(path)
        self.label = str(path)

    def size(self, file):
        """In bytes. FileNotFoundError where it is not there."""
        return (self.path / file).stat().st_size

    def read(self, file, start, end):
        with open(self.path / file, "rb") as opened:
            opened.seek(start)
            return opened.read(end - start)


class HubFolder:
    """One revision of a repository on the Hugging Face hub, or on the mirror that HF_ENDPOINT names."""

    def __init__(self, repository, revision):
        hub = _huggingface_hub()
        endpoint = os.environ.get("HF_ENDPOINT") or None
        self.label = f"{repository} at {revision}"
        self._open = {}
        with _HubErrors(self.label):
            # The commit, so that a push half-way through cannot mix two files.
            about = hub.HfApi(endpoint=endpoint).model_info(
                repository, revision=revision, timeout=20
            )
        self.commit = about.sha
        self._root = f"{repository}@{self.commit}"
        self._files = hub.HfFileSystem(endpoint=endpoint, skip_instance_cache=True)

    def size(self, file):
        """In bytes. FileNotFoundError where it is not there."""
        return self._opened(file).size

    def read(self, file, start, end):
        opened = self._opened(file)
        with _HubErrors(f"{file} of {self.label}"):
            opened.seek(start)
            content = opened.read(end - start)
        if len(content) > end - start:
            raise ConnectionError(
                f"{file} of {self.label}: the server gave the whole file where a part was asked for. "
                "Set HF_ENDPOINT to one that serves parts, or download the file and read it from disk"
            )
        return content

    def _opened(self, file):
        if file not in self._open:
            with _HubErrors(f"{file} of {self.label}"):
                # Without read-ahead: one request for each read, for these bytes and no others.
                self._open[file] = self._files.open(
                    f"{self._root}/{file}", "rb", block_size=2**20, cache_type="none"
                )
        return self._open[file]


class Checkpoint:
    """The tensors' names and places in one safetensors file, or in the shards that an index names.

    file: a safetensors file or an index (`model.safetensors.index.json`). Where the safetensors file is
    not there but its index is, the index is taken.

    Attributes:
        names: of all tensors, sorted.
        metadata: of a single file; empty for shards.
        size: bytes of the file, or of all shards as far as they were opened.

    Raises:
        FileNotFoundError: neither is there.
        ValueError: what is there is no safetensors file, or a damaged one.
    """

    def __init__(self, folder, file):
        self.folder = folder
        self._headers, self._shards = {}, {}
        try:
            folder.size(file)
        except FileNotFoundError:
            if not file.endswith(".safetensors"):
                raise
            try:
                folder.size(file + INDEX_SUFFIX)
            except FileNotFoundError:
                raise FileNotFoundError(
                    f"{folder.label} has no {file} and no {file}{INDEX_SUFFIX}"
                ) from None
            file += INDEX_SUFFIX
        self.file, self.label = file, f"{file} of {folder.label}"
        self.metadata = {}
        if file.endswith(".json"):
            self._shards = _read_index(folder, file)
        else:
            self._headers[file] = _read_header(folder, file)
            self.metadata = self._headers[file].metadata
            self._shards = dict.fromkeys(self._headers[file].entries, file)
        self.names = sorted(self._shards)

    @property
    def size(self):
        return sum(self.folder.size(file) for file in self._headers)

    def places(self, names):
        """{name: `Place`}, checked against the file; the header of each shard needed is read once."""
        found = {}
        for name in names:
            file = self._shards[name]
            if file not in self._headers:
                self._headers[file] = _read_header(self.folder, file)
            if name not in self._headers[file].entries:
                raise ValueError(
                    f"{self.file} says that {name} is in {file}, where it is not: "
                    "the index and its files do not belong together"
                )
            found[name] = _checked_place(self.folder, file, name, self._headers[file])
        _require_apart(found)
        return found

    def read(self, names, places):
        """The tensors of one run, {name: tensor}: names whose places follow one another in one file."""
        file, start, end = places[names[0]].file, places[names[0]].start, places[names[-1]].end
        content = self.folder.read(file, start, end)
        if len(content) != end - start:
            raise ValueError(
                f"{file} of {self.folder.label} is cut off: {len(content):,} of {end - start:,} bytes came"
            )
        return {
            name: torch.frombuffer(
                bytearray(content[place.start - start : place.end - start]),
                dtype=DTYPES[place.dtype],
            ).reshape(place.shape)
            for name, place in ((name, places[name]) for name in names)
        }


def in_runs(places, waste=0.01, largest=2**24):
    """Names in the order of their places, in lists that one read serves.

    Neighbours are joined over a gap as long as all gaps together stay below `waste` of the wanted bytes
    and a run below `largest` bytes: fewer requests, hardly more bytes.
    """
    order = sorted(places, key=lambda name: (places[name].file, places[name].start))
    allowed = waste * sum(place.end - place.start for place in places.values())
    gaps = []
    for before, after in pairwise(order):
        if places[before].file == places[after].file:
            gaps.append((places[after].start - places[before].end, after))
    joined = set()
    for gap, after in sorted(gaps):
        allowed -= gap
        if allowed < 0:
            break
        joined.add(after)
    runs = []
    for name in order:
        if name in joined and places[name].end - places[runs[-1][0]].start <= largest:
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


class _Header(NamedTuple):
    entries: dict  # {name: {"dtype", "shape", "data_offsets"}}, as the file has it
    metadata: dict
    first: int  # where the numbers begin


def _read_header(folder, file):
    size, shown = folder.size(file), f"{file} of {folder.label}"
    start = folder.read(file, 0, min(9, size))
    length = int.from_bytes(start[:8], "little")
    if length > LARGEST_HEADER or start[8:] != b"{":
        raise ValueError(f"{shown} {_what_else(start)}")
    if length > size - 8:
        raise ValueError(
            f"{shown} is cut off: it has {size:,} bytes, its header alone has {length:,}"
        )
    try:
        entries = json.loads(folder.read(file, 8, 8 + length), object_pairs_hook=_without_twins)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{shown} is no safetensors file: its header is no JSON ({error})"
        ) from None
    if not isinstance(entries, dict):
        raise ValueError(f"{shown} is no safetensors file: its header lists no tensors")
    metadata = entries.pop("__metadata__", {})
    return _Header(entries, metadata if isinstance(metadata, dict) else {}, 8 + length)


def _what_else(start):
    if start[:4] == b"PK\x03\x04" or start[:1] == b"\x80":
        return (
            "is a pickle, as torch.save writes: it can run any code, so it was not opened. "
            "Only safetensors files are read"
        )
    if start == b"version h":
        return "is only a pointer to the file (Git LFS): `git lfs pull` fetches the file itself"
    return "is no safetensors file: it does not begin with a header and its length"


def _read_index(folder, file):
    """{tensor name: shard}, from a file that transformers and lerobot write beside shards."""
    size, shown = folder.size(file), f"{file} of {folder.label}"
    if size > LARGEST_HEADER:
        raise ValueError(f"{shown} has {size:,} bytes: too large for an index")
    try:
        shards = json.loads(folder.read(file, 0, size))["weight_map"]
        pairs = sorted(shards.items())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError(f"{shown} is no index of shards: it has no weight_map") from None
    for name, shard in pairs:
        # A shard lies beside its index or below it, never elsewhere on this machine.
        if not isinstance(shard, str) or not re.fullmatch(r"(?!.*\.\.)[\w.\-]+(/[\w.\-]+)*", shard):
            raise ValueError(
                f"{shown} says that {name} is in {shard!r}, which is no file beside it"
            )
    folder_of_index = file.rpartition("/")[0]
    return {name: f"{folder_of_index}/{shard}".lstrip("/") for name, shard in pairs}


def _checked_place(folder, file, name, header):
    entry, shown = header.entries[name], f"{name} in {file}"
    try:
        dtype, shape, (start, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"{shown} has no dtype, shape and place in the header") from None
    if not all(type(number) is int and number >= 0 for number in (*shape, start, end)):
        raise ValueError(f"{shown} has a shape or a place that is no count: {entry}")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ValueError(
            f"{shown} has dtype {dtype!r}, which is not read here ({', '.join(DTYPES)} are): "
            "a quantised checkpoint no longer holds the numbers themselves"
        )
    if end - start != math.prod(shape) * DTYPES[dtype].itemsize:
        raise ValueError(
            f"{shown} has {end - start:,} bytes, which does not fit {dtype} of shape {shape}"
        )
    place = Place(file, dtype, shape, header.first + start, header.first + end)
    if place.end > folder.size(file):
        raise ValueError(
            f"{file} of {folder.label} is cut off: {name} ends at byte {place.end:,} "
            f"of {folder.size(file):,}"
        )
    return place


def _require_apart(places):
    order = sorted(places, key=lambda name: (places[name].file, places[name].start))
    for before, after in pairwise(order):
        if places[before].file == places[after].file and places[before].end > places[after].start:
            raise ValueError(
                f"{before} and {after} overlap in {places[after].file}: damaged header"
            )


def _without_twins(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice")
    return found


def _huggingface_hub():
    try:
        import huggingface_hub
    except ImportError:
        raise ImportError(
            "to read from the Hugging Face hub, install its client: pip install huggingface_hub. "
            "A file on this machine is read without it"
        ) from None
    return huggingface_hub


class _HubErrors:
    """What the hub's client and the network layer below it raise, in this module's words.

    Which library that layer is (requests, httpx) depends on the client's version, so its errors are told
    apart by what they are not.
    """

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if not isinstance(error, Exception) or isinstance(error, MemoryError):
            return
        from huggingface_hub import errors

        if isinstance(error, errors.GatedRepoError):
            raise PermissionError(
                f"{self.what} is gated: accept its terms on its page, then log in (`hf auth login`)"
            ) from error
        if isinstance(error, errors.RevisionNotFoundError):
            raise FileNotFoundError(f"{self.what}: there is no such revision") from error
        if isinstance(error, errors.RepositoryNotFoundError):
            raise FileNotFoundError(
                f"{self.what}: there is no such repository, or it is private (`hf auth login`)"
            ) from error
        if isinstance(error, (FileNotFoundError, errors.EntryNotFoundError)):
            raise FileNotFoundError(f"{self.what}: there is no such file") from error
        if isinstance(error, errors.HFValidationError):
            raise ValueError(f"{self.what}: {error}") from error
        raise ConnectionError(
            f"{self.what} could not be read ({type(error).__name__}: {error}). "
            "Run it again: what was fetched so far is kept"
        ) from error
