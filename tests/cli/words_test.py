"""`gpustrata words`: what the sources say, collected when the command was built."""
import re

from support.paths import ROOT
from support.tool import USAGE, out_of, run


def parts(text):
    """[(file, sentence, example or None)], and the last line."""
    *lines, last = text.splitlines()
    found, file = [], None
    for line in lines:
        if line.startswith("      "):
            found[-1] = (*found[-1][:2], line.strip())
        elif line.startswith("  "):
            found.append((file, line.strip(), None))
        elif line:
            file = line
    return found, last


def test_a_sentence_is_there_as_it_stands_in_its_source_and_with_what_a_document_prints():
    found, _ = parts(out_of("words", "answers/findings"))
    (example,) = [example for file, sentence, example in found
                  if (file, sentence) == ("answers/findings/out_of_memory.cpp", "{} requested one {} block.")]
    assert re.fullmatch(r"\S.* requested one [\d.]+ [KMG]iB block\.", example)
    assert all(file.startswith("answers/findings/") for file, *_ in found)


def test_nothing_of_a_file_of_sentences_is_left_out():
    # Strings of verdict and remedies, by another reader of C++: a sentence in quotes that ends with its full stop.
    source = re.sub(r"//.*", "", (ROOT / "engine/answers/findings/out_of_memory.cpp").read_text())
    joined = re.sub(r'"\s*\n\s*"', "", source)
    own = {text.strip() for text in re.findall(r'"((?:[^"\\\n]|\\.)*\.)"', joined) if len(re.findall(r"\b[a-z]+\b", text)) > 4}
    assert len(own) > 20
    found, _ = parts(out_of("words", "answers/findings/out_of_memory.cpp"))
    assert own <= {sentence for _, sentence, _ in found}


def test_it_says_how_many_are_shown():
    found, last = parts(out_of("words"))
    said, files, filled_in, with_example = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", last))
    assert (said, files) == (len(found), len({file for file, *_ in found}))
    assert filled_in == sum("{" in sentence for _, sentence, _ in found)
    assert with_example == sum(example is not None for *_, example in found)
    assert with_example > 150


def test_an_example_has_all_that_is_fixed():
    found, _ = parts(out_of("words", "answers"))
    for _, sentence, example in found:
        if example is None:
            continue
        at = 0
        for part in re.split(r"\{[^{}]*\}", sentence.replace("{{", "\1").replace("}}", "\2")):
            fixed = part.replace("\1", "{").replace("\2", "}").strip()
            at = example.find(fixed, at)
            assert at >= 0, (sentence, example)
            at += len(fixed)


def test_a_folder_without_sentences_is_refused():
    done = run("words", "nowhere", text=True)
    assert done.returncode == USAGE
    assert "No sentence is below that folder" in done.stderr
