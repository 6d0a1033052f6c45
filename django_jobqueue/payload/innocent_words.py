"""What is random and yet no secret: ids, checksums, addresses of wallets, public keys, and their names."""

from __future__ import annotations

import re
from functools import lru_cache

_ID_NAME = re.compile(
    r"(?i)(?:^|[_\-.]|(?<=[a-z0-9]))(?:ids?(?:[_-]?\d)?|uuid|guid|etag|checksum|digest|hash|md5|crc|sha\d*|h1|cursor|key|"
    r"ref|reference|number|fingerprint|integrity|version|revision|rev|commit|slug|thumbnail|image|pub(?:lic)?_?key|"
    r"(?:page|continuation|sync|next|resume)_?token|path|file_?name|boundary|receipt_?handle|verification|serial|nonce|"
    r"challenge|ray|address|wallet|txid|transaction|contract|board|column|doc|file|folder|sheet|spreadsheet|playlist|"
    r"row|node|thread|channel|trace|span|correlation|asset|photo|video|avatar|attachment|blob|snapshot|layer|build|"
    r"instance|click|gclid|fbclid|msclkid|dclid|[gw]braid|kid|x5t|placeholder)$|"
    r"^(?:[xyn]|sid|uid|oid|cid|gid|to|from)$"
)

_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
INNOCENT = re.compile(
    r"[0-9a-fA-F_\-:.]+"  # digests, UUIDs
    r"|[0-7][0-9A-HJKMNP-TV-Z]{25}"  # a ULID
    r"|[A-Z]{2}\d{2}[A-Z0-9]{11,30}"  # an IBAN
    r"|[a-z]{1,12}_[A-Za-z0-9]{10,28}|[A-Z]{2}[0-9a-f]{32}"  # an id that names its type: `cus_…`, `SM…`
    r"|(?:cs|pk|phc|pub|acct|price)_(?:test_|live_|prod_)?.*|pk\.eyJ.*"
    r"|(?:sha(?:1|256|384|512)|md5)[-:].*"  # integrity of a script
    r"|(?:R0lGOD|iVBORw0KGgo|/9j/|UklGR|JVBERi0|PHN2Zy|UEsDB|H4sI|PD94bWw|d09GM|AAEAAA|T1RUTw|MI[IG][A-Za-z]).*"
    r"|.*\.[A-Za-z]{1,5}\d?"  # a file's name
    r"|AAAA[BCEG][23][A-Za-z0-9+/]{4,}={0,2}"  # a public key of SSH
    r"|(?!nsec1)[a-z]{2,12}1[02-9ac-hj-np-z]{38,110}"  # an address in bech32: Bitcoin, Cosmos, Cardano, age
    rf"|[13DLMTXAr]{_BASE58}{{25,34}}|{_BASE58}{{43,44}}|[48]{_BASE58}{{94}}"
    rf"|[xyztuv]pub{_BASE58}{{100,112}}|(?:Qm|tz|KT)[1-9]?{_BASE58}{{30,44}}"
    r"|bafy[a-z2-7]{55}|G[A-Z2-7]{55}|[A-Z2-7]{58}"  # other chains and IPFS
    r"|1[\w-]{43}|1[\w-]{32}|0B[\w-]{26}|(?:PL|UU|OL)[\w-]{32}"  # files of a drive, playlists
    r"|(?:AAMk|AQMk|AAQk)[\w-]+={0,2}"  # mails and events of Exchange
    r"|(?:Cj0KC|CjwKC|EAIaIQ|IwAR|IwZX|IwY2)[\w-]+"  # a click on an advertisement
)


@lru_cache(maxsize=4096)
def is_identifier_name(name: str) -> bool:
    """Say whether a name announces what is random and yet no secret: an id, a checksum, a cursor."""
    return _ID_NAME.search(name[:100]) is not None
