"""Makes the package's wheel and source archive for pip, with nothing but Python.

Machines on which MPI programs run often cannot reach the network, from which pip would fetch setuptools to build a package of
six files that only has to be copied.  pyproject.toml names this module; PEP 517 and 660 say what its functions are to do, PEP 427
what a wheel looks like.  The project's metadata stands in PKG-INFO, as in a source archive.
"""
import base64
import hashlib
import os
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TAG = "py3-none-any"


def _read(path):
    with open(os.path.join(HERE, path), "rb") as file:
        return file.read()


def _name():
    fields = dict(line.split(": ", 1) for line in _read("PKG-INFO").decode().splitlines())
    return "sago-" + fields["Version"]


def _package():
    return ["sago/" + name for name in sorted(os.listdir(os.path.join(HERE, "sago"))) if name.endswith(".py")]


def _metadata():
    text = _read("PKG-INFO") + b"Description-Content-Type: text/markdown\n\n" + _read("README.md")
    wheel = f"Wheel-Version: 1.0\nGenerator: sago\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    return {"METADATA": text, "WHEEL": wheel}


def _write_wheel(directory, files):
    """A wheel is an archive with a list of its files and their checksums."""
    info = _name() + ".dist-info/"
    files = {**files, **{info + name: text for name, text in _metadata().items()}}
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = f"{_name()}-{TAG}.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    return wheel


def build_wheel(directory, config_settings=None, metadata_directory=None):
    return _write_wheel(directory, {name: _read(name) for name in _package()})


def build_editable(directory, config_settings=None, metadata_directory=None):
    """The installed package is a line that names this folder."""
    return _write_wheel(directory, {"sago.pth": (HERE + "\n").encode()})


def build_sdist(directory, config_settings=None):
    archive = _name() + ".tar.gz"
    with tarfile.open(os.path.join(directory, archive), "w:gz") as file:
        for name in ["pyproject.toml", "backend.py", "PKG-INFO", "README.md"] + _package():
            file.add(os.path.join(HERE, name), _name() + "/" + name)
    return archive
