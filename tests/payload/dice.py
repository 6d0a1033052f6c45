"""What the corpora are drawn with: the same at every run."""

import base64
import json
import random
import string
import uuid

DICE = random.Random(20_261_130)

HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"


DRAWN = []
"""What was drawn, which nothing that is shown may have in it."""


def some(alphabet, length):
    DRAWN.append("".join(DICE.choice(alphabet) for _ in range(length)))
    return DRAWN[-1]


def an_id():
    DRAWN.append(str(uuid.UUID(int=DICE.getrandbits(128), version=4)))
    return DRAWN[-1]


def segment(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def card(prefix, length):
    digits = prefix + some(string.digits, length - len(prefix) - 1)
    doubled = [int(digit) if index % 2 else sum(divmod(2 * int(digit), 10)) for index, digit in enumerate(digits[::-1])]
    return digits + str(-sum(doubled) % 10)
