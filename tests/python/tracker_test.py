"""Files of MemoryTracker without PyTorch: read, summed up, written, drawn. Recording: tests/torch."""
import contextlib
import io
import pickle
import xml.dom.minidom
from collections import defaultdict
from pathlib import Path

import gpustrata
from support.folders import InAFolder
from support.tool import answer

# (operator, allocated = active, reserved) in MiB.
OPERATORS = [
    ("layer1.forward.mm.default_0", 10.0, 20.0), ("layer1.forward.relu.default_0", 14.5, 20.0),
    ("layer2.forward.mm.default_1", 30.0, 42.0), ("layer2.forward.sum.default_0", 30.0, 42.0),
    ("layer2.forward.mm.default_2", 22.0, 42.0),
]


def theirs(path):
    """As PyTorch writes it: no peaks, no level before the first operator."""
    def table(column):
        made = defaultdict()
        made.update({index: (row[0], row[column]) for index, row in enumerate(OPERATORS)})
        return made

    markers = defaultdict(int)
    markers.update({"fw_start": 0, "fw_bw_boundary": 4})
    Path(path).write_bytes(pickle.dumps({
        "memories_allocated": table(1), "memories_active": table(1), "memories_reserved": table(2), "markers": markers,
        "num_alloc_retries": 0}, protocol=5))


class Files(InAFolder):
    def setUp(self):
        super().setUp()
        self.path = str(self.folder / "memory.trace")
        theirs(self.path)
        self.tracker = gpustrata.MemoryTracker("cpu")
        self.tracker.load(self.path)

    def test_a_file_of_pytorch_is_summed_up(self):
        with contextlib.redirect_stdout(io.StringIO()) as told:
            rows = self.tracker.summary(top=2)
        self.assertEqual(rows, [("layer2.forward.mm.default_1", 15.5), ("layer1.forward.relu.default_0", 4.5)])
        self.assertIn("highest: 30.0 MiB, after layer2.forward.mm.default_1", told.getvalue())
        self.assertIn("+15.5 MiB  layer2.forward.mm.default_1", told.getvalue())
        self.assertEqual([change for _, change in self.tracker.changes()], [4.5, 15.5, 0.0, -8.0])
        self.assertEqual(self.tracker.markers, {"fw_start": 0, "fw_bw_boundary": 4})

    def test_with_the_level_before_the_first_operator_counts_too(self):
        self.tracker.start_allocated = 2.0
        self.assertEqual(self.tracker.changes()[0], ("layer1.forward.mm.default_0", 8.0))

    def test_what_is_written_is_read_here_and_by_the_command(self):
        self.tracker.memories_peak = {index: (row[0], row[1] + 1) for index, row in enumerate(OPERATORS)}
        self.tracker.start_allocated = 2.0
        self.tracker.save_stats(self.path)
        again = gpustrata.MemoryTracker("cpu")
        again.load(self.path)
        for name in ("memories_allocated", "memories_reserved", "memories_peak", "markers", "start_allocated"):
            self.assertEqual(getattr(again, name), getattr(self.tracker, name))
        told = answer("tracker", self.path)
        self.assertEqual((told["ops"], told["peak"], told["reserved_peak_bytes"]),
                         (5, {"allocated_bytes": 30 << 20, "op": 2}, 42 << 20))

    def test_files_that_are_something_else(self):
        for data, error in [(b"cos\nsystem\n(S'true'\ntR.", pickle.UnpicklingError), (b"", EOFError),
                            (pickle.dumps([1]), ValueError), (pickle.dumps({"memories_allocated": {}}), ValueError)]:
            Path(self.path).write_bytes(data)
            with self.assertRaises(error):
                self.tracker.load(self.path)
        self.assertEqual(len(self.tracker.memories_allocated), 5)  # what was known stays
        with self.assertRaises(OSError):
            self.tracker.save_stats(self.path + "/nothing")

    def test_a_picture(self):
        picture = self.path + ".svg"
        self.tracker.save_plot(picture)
        document = xml.dom.minidom.parse(picture)
        lines = document.getElementsByTagName("polyline")
        self.assertEqual(len(lines), 3)
        self.assertEqual(len(lines[0].getAttribute("points").split()), 5)
        # The ruler: quarters of 42 MiB, the most that was reserved.
        words = [text.firstChild.data for text in document.getElementsByTagName("text")]
        self.assertEqual([word for word in words if word.endswith("MiB")],
                         ["0.0 MiB", "10.5 MiB", "21.0 MiB", "31.5 MiB", "42.0 MiB"])

    def test_nothing_recorded(self):
        empty = gpustrata.MemoryTracker("cpu")
        empty.stop()
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(empty.summary(), [])
        empty.save_plot(self.path + ".svg")
