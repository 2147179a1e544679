"""Data files: where they are looked for, and what is said when they are nowhere."""

import hashlib
import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from bequec.core.errors import DataError
from bequec.datasets import files, load_coauthors, load_dogs
from bequec.datasets.files import find_file, find_files, registry

DATA = os.environ.get("BEQUEC_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="BEQUEC_DATA is not set: the co-author networks are not here")


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """Neither data nor cache nor network."""
    import pooch

    def offline(*_args, **_kwargs):
        raise ConnectionError("no route to host")

    monkeypatch.delenv("BEQUEC_DATA", raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda _: tmp_path / "cache")
    monkeypatch.setattr(pooch, "retrieve", offline)
    return tmp_path


def test_the_folder_of_the_environment_comes_first_then_the_cache(nowhere, monkeypatch):
    cached = nowhere / "cache" / "coauthors" / "DBLP1_community.txt"
    cached.parent.mkdir(parents=True)
    cached.write_text("1 1 1.0\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"DBLP1_community.txt differs from the published coauthors/DBLP1_community"):
        assert find_file("coauthors/DBLP1_community.txt") == cached
    given = nowhere / "mine" / "coauthors" / "DBLP1_community.txt"
    given.parent.mkdir(parents=True)
    given.write_text("1 1 1.0\n", encoding="utf-8")
    monkeypatch.setenv("BEQUEC_DATA", str(nowhere / "mine"))
    with pytest.warns(UserWarning, match="results are of this file"):
        assert find_file("coauthors/DBLP1_community.txt") == given


def test_what_is_nowhere_is_said_plainly(nowhere):
    with pytest.raises(DataError, match=r"batch1.mat is neither in BEQUEC_DATA.*no route to host.*set BEQUEC_DATA"):
        load_dogs()
    with pytest.raises(DataError, match=r"MAG1_adjacency.txt is not here and has no public address; put it into"):
        load_coauthors("MAG1")
    with pytest.raises(DataError, match="network='DBLP' is unknown; choose one of DBLP1"):
        load_coauthors("DBLP")
    with pytest.raises(DataError, match=r"lacks annotation_data_batch1.mat"):
        load_dogs(nowhere)


@pytest.fixture
def published(monkeypatch, tmp_path):
    """Twelve photos on a server of this machine, and an empty cache."""
    import pooch

    home = tmp_path / "home"
    home.mkdir()
    hashes = {}
    for number in range(12):
        photo = f"photo {number}".encode()
        (home / f"{number}.jpg").write_bytes(photo)
        hashes[f"dogs/images/{number}.jpg"] = f"sha256:{hashlib.sha256(photo).hexdigest()}"
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(home))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.delenv("BEQUEC_DATA", raising=False)
        monkeypatch.setattr(pooch, "os_cache", lambda _: tmp_path / "cache")
        monkeypatch.setattr(files, "HOMES", {"dogs/images": f"http://127.0.0.1:{server.server_port}"})
        monkeypatch.setattr(files, "registry", lambda: hashes)
        yield home
        server.shutdown()


def test_missing_files_are_downloaded_in_order_with_one_line_and_progress(published, caplog):
    import pooch

    names, told = list(files.registry()), []
    find_file(names[3])
    pooch.get_logger().addHandler(caplog.handler)
    found = find_files(names, lambda *step: told.append(step))
    assert [path.read_bytes() for path in found] == [f"photo {number}".encode() for number in range(12)]
    assert told == [("downloading", done, 12) for done in range(1, 13)]
    pooch.get_logger().removeHandler(caplog.handler)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("Downloading 11 files, dogs/images/0.jpg to dogs/images/11.jpg, into ")
    assert find_files(names) == found


def test_a_file_with_the_wrong_content_is_refused_and_not_kept(published):
    (published / "5.jpg").write_text("something else", encoding="utf-8")
    with pytest.raises(DataError, match=r"images/5.jpg is neither in BEQUEC_DATA.*hash.*get the file by hand"):
        find_files(list(files.registry()))
    assert not (files.cache_folder() / "dogs" / "images" / "5.jpg").exists()
    assert (files.cache_folder() / "dogs" / "images" / "0.jpg").exists()


def test_a_damaged_file_is_named(tmp_path):
    for batch in (1, 2, 3):
        (tmp_path / f"annotation_data_batch{batch}.mat").write_bytes(b"nonsense")
    (tmp_path / "single_label_class_5_ground_truth.mat").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"annotation_data_batch1.mat is not the published MATLAB file"):
        load_dogs(tmp_path)


def test_every_file_with_an_address_has_a_hash():
    assert len(registry()) == 915
    assert all(value.startswith("sha256:") and len(value) == 71 for value in registry().values())


def write_network(folder: Path, name: str) -> None:
    """Ten authors; the first three have six or more co-authors of a larger index, the last ones fewer."""
    edges = [(j, i) for i in (1, 2, 3) for j in range(4, 11)] + [(5, 4)]
    lines = [f"{larger}\t{smaller}" for larger, smaller in edges]
    (folder / f"{name}_adjacency.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    weights = [f"{i} 1 {0.1 * i:.1f}\n{i} 2 {1 - 0.1 * i:.1f}" for i in range(1, 10)] + ["10 1 1.0"]
    (folder / f"{name}_community.txt").write_text("\n".join(weights) + "\n", encoding="utf-8")


def test_networks_of_the_published_format_are_read_and_filtered(tmp_path, monkeypatch):
    folder = tmp_path / "coauthors"
    folder.mkdir()
    write_network(folder, "MAG1")
    monkeypatch.setenv("BEQUEC_DATA", str(tmp_path))
    graph, memberships = load_coauthors("MAG1")
    assert graph.shape == (3, 3)
    assert graph.nnz == 0  # the three that are kept wrote with others only
    np.testing.assert_allclose(memberships, [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    (folder / "MAG1_adjacency.txt").write_text("a b\n", encoding="utf-8")
    with pytest.raises(DataError, match="is not a table of numbers"):
        load_coauthors("MAG1")


@needs_data
@pytest.mark.parametrize(("number", "n_nodes", "n_clusters"), [(1, 15_075, 13), (3, 18_646, 16), (5, 14_982, 15)])
def test_the_papers_networks_have_the_papers_sizes(number, n_nodes, n_clusters):
    graph, memberships = load_coauthors(f"DBLP-{number}")
    assert memberships.shape == (n_nodes, n_clusters)
    assert graph.shape == (n_nodes, n_nodes)
    np.testing.assert_allclose(memberships.sum(axis=1), 1, atol=1e-5)
    assert (graph != graph.T).nnz == 0
