"""The tables of gpustrata.open() and the files of `gpustrata convert --to arrow` in pandas and polars: run by wheel_test.py,
which installs them (tens of MB)."""
import gpustrata
import pandas  # noqa: F401  to_pandas() needs it
import polars
import pytest
from support.paths import SAMPLE
from support.tool import out_of

TABLES = ["events", "blocks", "segments", "lives", "stacks"]


def test_tables_become_frames():
    with gpustrata.open(SAMPLE) as file:
        events, stacks = file.events(), file.stacks()
    total = sum(events.to_pydict()["size"])
    assert int(events.to_pandas()["size"].sum()) == total
    assert int(events.to_polars()["size"].sum()) == total
    assert polars.DataFrame(events)["action"].cast(polars.String).to_list() == events.to_pydict()["action"]
    assert stacks.to_pandas()["frames"][0][0]["name"] == stacks.to_pydict()["frames"][0][0]["name"]


@pytest.mark.parametrize("table", TABLES)
def test_polars_reads_what_the_command_writes(table, tmp_path):
    import pyarrow

    out_of("convert", SAMPLE, "-o", tmp_path / "t.arrow", "--table", table)
    with pyarrow.ipc.open_file(tmp_path / "t.arrow") as file:
        wanted = file.read_all().to_pydict()
    assert polars.read_ipc(tmp_path / "t.arrow").to_dict(as_series=False) == wanted
