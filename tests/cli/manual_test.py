"""`gpustrata manual`: the page and the completions name what the commands' own help names."""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.tool import USAGE, needed, out_of, run


def commands():
    return re.findall(r"^  ([a-z]+) {2,}", out_of("--help").split("Subcommands:")[1].split("Exit codes")[0], re.MULTILINE)


def options(command):
    """Long names in its help."""
    return set(re.findall(r"(?<=[ ,])--[a-z-]+", out_of(command, "--help")))


def completed(script, *words):
    """What bash offers for the last of the words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "completions")
        path.write_text(script)
        line = " ".join(f"'{word}'" for word in words)
        told = subprocess.run(
            ["bash", "-c", f"source {path}; COMP_WORDS=(gpustrata {line}); COMP_CWORD={len(words)}; _gpustrata; "
             "printf '%s\\n' \"${COMPREPLY[@]}\""], capture_output=True, text=True, check=True)
        return set(told.stdout.split())


class Manual(unittest.TestCase):
    def test_the_page_has_every_command_and_option(self):
        page = out_of("manual")
        self.assertGreater(len(commands()), 15)
        for command in commands():
            part = re.search(rf"^\.SS {command}\n(.*?)(?=^\.S[SH] )", page, re.MULTILINE | re.DOTALL)
            self.assertIsNotNone(part, command)
            for option in options(command):
                self.assertIn(option.replace("-", "\\-"), part[1], command)
        self.assertIn("Exit codes", page)

    def test_the_page_has_no_mistakes(self):
        told = subprocess.run([needed("groff", "groff-base"), "-man", "-Tutf8", "-ww", "-z"], input=out_of("manual"), capture_output=True, text=True)
        self.assertEqual((told.returncode, told.stderr), (0, ""))

    def test_bash_completes(self):
        script = out_of("manual", "--completions", "bash")
        self.assertTrue(set(commands()) <= completed(script, ""))
        self.assertEqual(completed(script, "summ"), {"summary"})
        for command in commands():
            self.assertTrue(options(command) <= completed(script, command, "--"), command)
        self.assertEqual(completed(script, "top", "run"), set())  # files, by bash itself

    def test_the_other_shells(self):
        for shell in ("zsh", "fish"):
            script = out_of("manual", "--completions", shell)
            for command in commands():
                self.assertIn(command, script)
            subprocess.run([needed(shell, shell), "-n"], input=script, text=True, check=True)
        self.assertEqual(run("manual", "--completions", "tcl").returncode, USAGE)
