"""Random text of a given alphabet and length, the same on every run."""

import base64
import json
import random
import re
import string
import uuid

ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": string.digits,
    "letter": string.ascii_letters,
    "lower": string.ascii_lowercase + string.digits,
    "upper": string.ascii_uppercase + string.digits,
    "alnum": string.ascii_letters + string.digits,
    "word": string.ascii_letters + string.digits + "_-",
    "b64": string.ascii_letters + string.digits + "+/",
    "base32": string.ascii_uppercase + "234567",
    "bech32": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "crockford": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
}


class Dice(random.Random):
    """A seeded source of text."""

    def text(self, alphabet, length):
        """Draw `length` characters of a named alphabet."""
        return "".join(self.choices(ALPHABETS[alphabet], k=length))

    def fill(self, template):
        """Fill `<alphabet length>` and `<uuid>`; a bar only breaks a prefix in the source and is dropped."""
        filled = re.sub(r"<(\w+) (\d+)>", lambda hole: self.text(hole[1], int(hole[2])), template.replace("|", ""))
        return re.sub(r"<uuid>", lambda _: self.uuid(), filled)

    def uuid(self):
        """Draw a random UUID of version 4."""
        return str(uuid.UUID(int=self.getrandbits(128), version=4))

    def base64(self, size, *, urlsafe=False):
        """Draw `size` bytes as Base64, with padding."""
        encode = base64.urlsafe_b64encode if urlsafe else base64.b64encode
        return encode(self.randbytes(size)).decode()

    def jwt(self, claims, algorithm="HS256", signature=32):
        """Build a three-part token that looks signed; the signature is noise."""
        header = {"alg": algorithm, "typ": "JWT"}
        parts = [json.dumps(part, separators=(",", ":")).encode() for part in (header, claims)]
        return ".".join(
            base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (*parts, self.randbytes(signature))
        )

    def pem(self, kind, size):
        """Build a PEM block whose body is noise, in lines of 64 characters."""
        body = self.base64(size)
        lines = [body[start : start + 64] for start in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----", ""])
