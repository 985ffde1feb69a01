"""Every command says of a file that was cut off that its numbers are not whole, and what is written of it says so, too."""
import gzip
import json
import pickle
from pathlib import Path

from support.paths import ROOT
from support.tool import USAGE, run

NOTE = "damaged, or it ends too early"
UNKNOWN = 4  # exit code of `gpustrata check`
WHOLE = Path(f"{ROOT}/tests/data/fit/batch4.pickle.gz")


def cut(folder):
    """A recording whose file ends in its history."""
    whole = gzip.decompress(WHOLE.read_bytes())
    path = folder / "cut.pickle"
    path.write_bytes(whole[: len(whole) * 7 // 10])
    return path


def with_segments_first():
    dump = pickle.loads(gzip.decompress(WHOLE.read_bytes()))
    return pickle.dumps({"segments": dump["segments"], "device_traces": dump["device_traces"]})


def answer(*arguments):
    done = run(*arguments, "--json", text=True)
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_answers_in_words_are_marked_beside_them(tmp_path):
    path = cut(tmp_path)
    for command in (["top"], ["stats"], ["flamegraph"], ["trace"], ["whatif"], ["compare", path]):
        done = run(*command, path, text=True)
        assert NOTE in done.stderr, command
        assert done.stderr.count(NOTE) == (2 if "compare" in command else 1), command


def test_answers_as_objects_are_marked_inside(tmp_path):
    path = cut(tmp_path)
    for command in (["top"], ["stats"], ["state"], ["compare", path], ["trace"], ["flamegraph"]):
        assert answer(*command, path)["damaged"] is True, command
    assert answer("owner", "0x7f0000000000", path)["damaged"] is True
    assert answer("whatif", path)["complete"] is False
    assert answer("report", path)["devices"][0]["complete"] is False
    assert "damaged" not in answer("top", WHOLE)


def test_what_is_older_than_the_recording_is_not_told_of_a_copy_either(tmp_path):
    """The block whose event is lost is not from before."""
    whole = with_segments_first()
    path = tmp_path / "cut.pickle"
    path.write_bytes(whole[: len(whole) - len(whole) // 10])
    copy = tmp_path / "copy.pickle"
    run("convert", path, "-o", copy, check=True)
    for file in (path, copy):
        said = " ".join(run("report", file, text=True).stdout.split())
        assert "Everything below covers only the part that was read" in said
        assert "before the first event" not in said and "older than the first event" not in said and " at most in " not in said


def test_what_fits_is_of_what_was_read(tmp_path):
    guess = run("fit", cut(tmp_path), "--scale", "batch=4", "--at", "batch=8", text=True)
    assert guess.returncode == USAGE and "is damaged or ends too early" in guess.stderr
    said = " ".join(run("whatif", cut(tmp_path), "--smallest", text=True).stdout.split())
    assert "only what was read of it is run again, and the whole run may need more" in said


def test_a_history_that_is_lost_is_not_called_one_that_was_not_recorded(tmp_path):
    """The file ends in the segments, before the first event."""
    whole = with_segments_first()
    path = tmp_path / "early.pickle"
    path.write_bytes(whole[: whole.index(b"device_traces")])
    copy = tmp_path / "copy.pickle"
    run("convert", path, "-o", copy, check=True)
    for file in (path, copy):
        for command in (["report"], ["report", "--json"], ["whatif"], ["summary"]):
            done = run(*command, file, text=True)
            assert "o history was recorded" not in done.stdout + done.stderr, command
            assert "none recorded" not in done.stdout + done.stderr, command
            assert "_record_memory_history" not in done.stdout + done.stderr, command


def test_what_is_written_of_it_is_marked(tmp_path):
    path = cut(tmp_path)
    made = [tmp_path / name for name in ("again.pickle", "again.json", "again.trace.json", "anonymous.pickle")]
    for one in made:
        command = ["anonymize"] if one.name.startswith("anonymous") else ["convert"]
        run(*command, path, "-o", one, check=True)
        done = run("check", "--max-peak", "1TiB", "--no-oom", one, text=True)
        assert done.returncode == UNKNOWN, one
        assert done.stdout.count("the file is damaged or ends too early") == 2, one
        found = {finding["name"] for finding in answer("summary", one)["diagnostics"]}
        assert "of_damaged" in found and "truncated" not in found, one
    twice = tmp_path / "twice.pickle"
    run("convert", made[0], "-o", twice, check=True)
    assert twice.read_bytes() == made[0].read_bytes()
