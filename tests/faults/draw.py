"""Draws faults: for each room a row of them, the same for the same seed and sources."""
import random
import re
from dataclasses import dataclass

import places
import python_places
from rooms import ROOMS, ROOT, files_of

# A factor is seldom there to be forgotten; the other kinds are drawn equally often.
WEIGHTS = {"comparison": 2, "and_or": 2, "constant": 2, "sign": 2, "statement": 2, "unit": 1}
SPARE = 1.4  # some do not compile


@dataclass
class Fault:
    number: int
    room: str
    place: places.Place

    @property
    def at(self):
        return f"{self.place.file}:{self.place.line}"


def places_in(room, root=ROOT):
    for name in files_of(room, root):
        text = (root / name).read_text()
        yield from (python_places if name.endswith(".py") else places).places_of(name, text)


def draw(room, seed, root=ROOT, count=None):
    """The faults of a room. Numbers begin at 100 for the first room, 200 for the second..., in the order of drawing."""
    by_kind = {kind: [] for kind in WEIGHTS}
    for place in places_in(room, root):
        by_kind[place.kind].append(place)
    kinds = [kind for kind in WEIGHTS if by_kind[kind]]
    dice = random.Random(f"{seed} {room}")
    first = 100 * (1 + list(ROOMS).index(room))
    wanted = count or round(ROOMS[room][0] * SPARE) + 2
    drawn = []
    for _ in range(100 * wanted):
        if len(drawn) == wanted:
            break
        place = dice.choice(by_kind[dice.choices(kinds, [WEIGHTS[kind] for kind in kinds])[0]])
        beside = (other.place for other in drawn if other.place.file == place.file)
        if all(place.end <= other.start - 1 or other.end + 1 <= place.start for other in beside):
            drawn.append(Fault(first + len(drawn), room, place))
    return drawn


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()
