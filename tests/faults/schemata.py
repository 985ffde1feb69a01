"""Writes all faults of a file into it at once: each is asked for while the program runs."""


def is_whole(text):
    """Not `++i) sum += i;`, the end of a loop's head and what follows."""
    return all(text.count(opening) == text.count(closing) for opening, closing in ("()", "[]", "{}"))


def _written(fault, is_on):
    place = fault.place
    condition = f"{is_on}({fault.number})"
    after = place.after.replace("\n", " ")
    if not place.is_statement:
        return f"({condition} ? ({after}) : ({place.before}))"
    return f"{{ if ({condition}) {{ {after} }} else {{ {place.before} }} }}"


def planted(text, faults, is_on):
    """`text` with these faults; the lines keep their numbers."""
    for fault in sorted(faults, key=lambda fault: -fault.place.start):
        place = fault.place
        assert text[place.start:place.end] == place.before, fault
        text = text[:place.start] + _written(fault, is_on) + text[place.end:]
    return text
